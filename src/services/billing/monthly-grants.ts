import type { EntityManager } from '@mikro-orm/postgresql';
import type { ServiceContext } from '../../context.js';
import { isLockFault } from '../../db/lock-fault.js';
import { accountsDueForGrant, grantToLockedAccounts, lockWithin } from './grants.store.js';

/** Accounts whose rows are locked together; a batch takes some milliseconds. */
const BATCH = 200;
/** Sorts before every id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** A flush, or a top-up, holds an account for milliseconds. */
const LOCK_WAIT = '300ms';
/** Somebody has locked the table, not an account. */
const MOST_LOCKED = 20;

export interface GrantCounts {
  /** How many accounts were looked at. */
  examined: number;
  /** How many received money. */
  granted: number;
  /** How many wait for the next run, because somebody else keeps them locked. */
  locked: number;
}

/**
 * Grants this month's included credits to every active account on a paid plan that lacks them. Batch by batch,
 * each in a transaction of its own: what was granted before a crash stays, and a repeat grants the rest. Accounts that are locked
 * come last and one by one, so that none of them holds up the credits of another.
 */
export async function grantMonthlyCredits(context: ServiceContext): Promise<GrantCounts> {
  const counts: GrantCounts = { examined: 0, granted: 0, locked: 0 };
  const now = context.clock.now();
  const inTransaction = <T>(work: (em: EntityManager) => Promise<T>) => context.em.fork().transactional(work);
  await everyBatch(async (afterId) => {
    const batch = await inTransaction(async (em) => {
      const ids = await accountsDueForGrant(em, { afterId, limit: BATCH, now, locks: 'skip locked' });
      return { ids, granted: ids.length > 0 ? await grantToLockedAccounts(em, ids, now) : 0 };
    });
    counts.examined += batch.ids.length;
    counts.granted += batch.granted;
    return batch.ids;
  });
  await everyBatch(async (afterId) => {
    const ids = await accountsDueForGrant(context.em.fork(), { afterId, limit: BATCH, now, locks: 'look' });
    for (const id of ids) {
      if (counts.locked === MOST_LOCKED) return [];
      counts.examined++;
      try {
        counts.granted += await inTransaction(async (em) => {
          await lockWithin(em, id, LOCK_WAIT);
          return grantToLockedAccounts(em, [id], now);
        });
      } catch (error) {
        if (!isLockFault(error)) throw error;
        counts.locked++;
      }
    }
    return ids;
  });
  return counts;
}

/** Calls `work` with the last id of what it gave before, until it gives less than a batch. */
async function everyBatch(work: (afterId: string) => Promise<string[]>): Promise<void> {
  let ids: string[] = [];
  do ids = await work(ids.at(-1) ?? FIRST_ID);
  while (ids.length >= BATCH);
}
