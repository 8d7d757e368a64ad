import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { limitLockWaits, limitLockWaitsAfterCheck } from '../../db/in-transaction.js';
import { isDeadlock, isLockFault } from '../../db/lock-fault.js';

/** A flush waits at most this long behind each of our lock requests. */
const LOCK_WAIT_MS = 300;
const LOCK_TRIES = 10;
const LOCK_PAUSE_MS = 250;
/** No more attempts after this time: a migration may hold locks of its own in the meantime. */
const PATIENCE_MS = 4_000;

/** The tables of usage can't be changed now. */
export class NotNow extends Error {}

/**
 * Runs `lock table` statements on the tables of usage, in attempts that delay no other statement for long: a statement that
 * waits for a table lock blocks all later ones, and an audit reads for minutes. The locks last until the transaction ends.
 * @throws NotNow, with nothing locked, when the tables are in use all the time
 */
export async function lockUsage(em: EntityManager, locks: readonly RawBuilder<unknown>[]): Promise<void> {
  const began = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      // A savepoint, so that a failure leaves the rest of the transaction intact.
      await em.transactional(async (inner) => {
        const db = inner.getKysely();
        // This lock blocks neither readers nor writers, so it may wait until PostgreSQL has ended an autovacuum that
        // is in the way.
        await limitLockWaitsAfterCheck(inner, LOCK_WAIT_MS);
        await sql`lock table calls in share update exclusive mode`.execute(db);
        await limitLockWaits(inner, LOCK_WAIT_MS);
        for (const lock of locks) await lock.execute(db);
      });
      return;
    } catch (error) {
      if (!isLockFault(error) && !isDeadlock(error)) throw error;
      if (tries === LOCK_TRIES || performance.now() - began > PATIENCE_MS)
        throw new NotNow('the table is in constant use');
      await delay(LOCK_PAUSE_MS);
    }
  }
}
