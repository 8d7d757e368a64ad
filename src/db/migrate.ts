import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { advisoryLocks } from './locks.js';
import { migrations } from './migrations.js';
import { patiently } from './patience.js';

/** The newest migration that this build knows. */
export const SCHEMA_VERSION = migrations.at(-1)!.name;

/** A statement of a migration, and the wait for another process's, may take so long. */
const TIMEOUT_MS = 60_000;

/**
 * Runs what is pending under an advisory lock in one transaction: processes that start together take turns, and
 * a failed migration leaves nothing behind. `within` runs under the same lock afterwards (the seed does).
 */
export async function migrate(
  orm: MikroORM,
  within?: (em: MikroORM['em']) => Promise<void>,
): Promise<string[]> {
  const em = orm.em.fork();
  return patiently(TIMEOUT_MS, () =>
    em.transactional(async (inner) => {
      const db = inner.getKysely();
      await sql`select set_config('statement_timeout', ${String(TIMEOUT_MS)}, true)`.execute(db);
      await sql`select pg_advisory_xact_lock(${advisoryLocks.migration})`.execute(db);
      const done = await orm.migrator.up({ transaction: inner.getTransactionContext() });
      await within?.(inner as MikroORM['em']);
      return done.map((migration) => migration.name);
    }),
  );
}

/** Whether the database has every migration that this build knows. */
export async function schemaIsCurrent(orm: MikroORM): Promise<boolean> {
  const rows = await sql<{ known: boolean }>`
    select to_regclass('mikro_orm_migrations') is not null as known`.execute(orm.em.fork().getKysely());
  if (!rows.rows[0]?.known) return false;
  const found = await sql`select 1 from mikro_orm_migrations where name = ${SCHEMA_VERSION}`.execute(
    orm.em.fork().getKysely(),
  );
  return found.rows.length > 0;
}
