import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { type AppliedFunctions, applyFunctions } from './apply-functions.js';
import { limitLockWaits, limitStatements, takeTurn } from './in-transaction.js';
import { isLockFault } from './lock-fault.js';
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
  for (const end = Date.now() + TIMEOUT_MS; ; await delay(LOCK_PAUSE_MS)) {
    try {
      return await tryToMigrate(orm, within);
    } catch (error) {
      if (!isLockFault(error) || Date.now() >= end) throw error;
    }
  }
}

function tryToMigrate(orm: MikroORM, within?: (em: MikroORM['em']) => Promise<void>): Promise<Migrated> {
  const em = orm.em.fork();
  return patiently(TIMEOUT_MS, () =>
    em.transactional(async (inner) => {
      await limitStatements(inner, TIMEOUT_MS);
      await takeTurn(inner, advisoryLocks.migration);
      await limitLockWaits(inner, LOCK_WAIT_MS);
      const done = await orm.migrator.up({ transaction: inner.getTransactionContext() });
      const functions = await applyFunctions(inner);
      await within?.(inner as MikroORM['em']);
      return { migrations: done.map((migration) => migration.name), functions };
    }),
  );
}
