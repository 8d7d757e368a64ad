import type { MikroORM } from '@mikro-orm/postgresql';
import { type AppliedFunctions, applyFunctions } from './apply-functions.js';
import { limitStatements, takeTurn } from './in-transaction.js';
import { advisoryLocks } from './locks.js';
import { patiently } from './patience.js';

/** A statement of a migration, and the wait for another process's, may take so long. */
const TIMEOUT_MS = 60_000;

export interface Migrated {
  /** Names of the migrations that ran. */
  migrations: string[];
  functions: AppliedFunctions;
}

/**
 * Runs what is pending under an advisory lock in one transaction, and brings the functions up to date: processes that
 * start together take turns, and a failed migration leaves nothing behind. `within` runs under the same lock afterwards
 * (the seed does).
 */
export async function migrate(
  orm: MikroORM,
  within?: (em: MikroORM['em']) => Promise<void>,
): Promise<Migrated> {
  const em = orm.em.fork();
  return patiently(TIMEOUT_MS, () =>
    em.transactional(async (inner) => {
      await limitStatements(inner, TIMEOUT_MS);
      await takeTurn(inner, advisoryLocks.migration);
      const done = await orm.migrator.up({ transaction: inner.getTransactionContext() });
      const functions = await applyFunctions(inner);
      await within?.(inner as MikroORM['em']);
      return { migrations: done.map((migration) => migration.name), functions };
    }),
  );
}
