import type { EntityManager } from '@mikro-orm/postgresql';
import type { ServiceContext } from '../../context.js';
import { isLockFault } from '../../db/lock-fault.js';
import { accountsDueForGrant, grantToLockedAccounts, lockWithin } from './grants.store.js';

/** Accounts locked together; a batch takes some milliseconds. */
const BATCH = 200;
/** Sorts before every id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** A flush, or a top-up, holds an account for milliseconds. */
const LOCK_WAIT = '300ms';
/** With more than this, somebody has locked the table, not single accounts. */
const MOST_LOCKED = 20;

export interface GrantCounts {
  /** Number of accounts examined. */
  examined: number;
  /** Number of accounts that received money. */
  granted: number;
  /** Number of locked accounts left to the next run. */
  locked: number;
}

/**
 * Grants this month's included credits to every active account on a paid plan that lacks them. Each batch has its own
 * transaction: grants before a crash stay, and a repetition grants the rest. Locked accounts come last and one by
 * one, so that none delays the credits of another.
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

/** Calls `work` with the last id that it returned, until it returns less than a batch. */
async function everyBatch(work: (afterId: string) => Promise<string[]>): Promise<void> {
  let ids: string[] = [];
  do ids = await work(ids.at(-1) ?? FIRST_ID);
  while (ids.length >= BATCH);
}
