import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { type AppliedFunctions, applyFunctions } from './apply-functions.js';
import { limitLockWaits, limitLockWaitsAfterCheck, limitStatements, takeTurn } from './in-transaction.js';
import { isDeadlock, isLockFault } from './lock-fault.js';
import { advisoryLocks } from './locks.js';
import { patiently } from './patience.js';

/** A statement of a migration, and the wait for another process's, may take so long. */
const TIMEOUT_MS = 60_000;
/**
 * Who waits for a table keeps out all who come after. An audit of the version before reads the usage for minutes: behind a
 * migration that waits for it, a flush waits at most so long.
 */
const LOCK_WAIT_MS = 300;
const LOCK_PAUSE_MS = 500;
/**
 * PostgreSQL ends an autovacuum that is in the way, but only once the wait has lasted for `deadlock_timeout`, a second. So one
 * try in so many waits for longer. A flush behind it gives up after 300 ms of its own and tries again.
 */
const LONG_TRY_EVERY = 4;

export interface Migrated {
  /** Names of the migrations that ran. */
  migrations: string[];
  functions: AppliedFunctions;
}

/**
 * Runs what is pending under an advisory lock in one transaction, and brings the functions up to date: processes that
 * start together take turns, and a failed migration leaves nothing behind. `within` runs under the same lock afterwards
 * (the seed does). Where another session is in the way, all of it is tried again for a minute: `within` may run several times.
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
