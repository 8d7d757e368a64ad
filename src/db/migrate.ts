import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { type AppliedFunctions, applyFunctions } from './apply-functions.js';
import { limitLockWaits, limitLockWaitsAfterCheck, limitStatements, takeTurn } from './in-transaction.js';
import { isDeadlock, isLockFault } from './lock-fault.js';
import { advisoryLocks } from './locks.js';
import { patiently } from './patience.js';

/** Time limit of each statement of a migration, and of the wait for another process's migrations. */
const TIMEOUT_MS = 60_000;
/**
 * A statement that waits for a table blocks all later ones. If a migration waits behind an audit of the previous version, which
 * reads usage for minutes, this limits how long the migration blocks a flush.
 */
const LOCK_WAIT_MS = 300;
const LOCK_PAUSE_MS = 500;
/**
 * PostgreSQL ends an autovacuum in the way only after a wait of `deadlock_timeout`, one second. So every nth attempt waits
 * longer. A flush behind it gives up after its own 300 ms and retries.
 */
const LONG_TRY_EVERY = 4;

export interface Migrated {
  /** Names of the migrations that ran. */
  migrations: string[];
  functions: AppliedFunctions;
}

/**
 * Runs pending migrations and updates the functions in one transaction under an advisory lock, so that processes that start
 * together take turns, and a failed migration leaves nothing behind. Then runs `within` (the seed) under the same lock. Retries
 * everything for a minute if another session holds a lock, so `within` may run several times.
 */
export async function migrate(
  orm: MikroORM,
  within?: (em: MikroORM['em']) => Promise<void>,
): Promise<Migrated> {
  const end = Date.now() + TIMEOUT_MS;
  for (let nth = 1; ; nth++) {
    try {
      return await tryToMigrate(orm, nth % LONG_TRY_EVERY === 0, within);
    } catch (error) {
      const isInTheWay = isLockFault(error) || isDeadlock(error);
      if (!isInTheWay || Date.now() >= end) throw error;
    }
    await delay(LOCK_PAUSE_MS);
  }
}

function tryToMigrate(
  orm: MikroORM,
  isLong: boolean,
  within?: (em: MikroORM['em']) => Promise<void>,
): Promise<Migrated> {
  const em = orm.em.fork();
  return patiently(TIMEOUT_MS, () =>
    em.transactional(async (inner) => {
      await limitStatements(inner, TIMEOUT_MS);
      await takeTurn(inner, advisoryLocks.migration);
      await (isLong ? limitLockWaitsAfterCheck : limitLockWaits)(inner, LOCK_WAIT_MS);
      const done = await orm.migrator.up({ transaction: inner.getTransactionContext() });
      const functions = await applyFunctions(inner);
      await within?.(inner as MikroORM['em']);
      return { migrations: done.map((migration) => migration.name), functions };
    }),
  );
}
