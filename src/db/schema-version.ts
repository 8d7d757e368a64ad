import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { FUNCTIONS_REVISION } from './functions/revision.js';

/**
 * The newest migration of this build (`test/db/migrations` checks it). A constant, so that processes that only wait for it
 * don't load the migrations.
 */
export const SCHEMA_VERSION = 'Migration20261226000000';

/**
 * Whether the database has all migrations of this build, and its functions or those of a later build. A start commits all
 * functions together, so one function of a revision is enough to check.
 */
export async function schemaIsCurrent(orm: MikroORM): Promise<boolean> {
  const db = orm.em.fork().getKysely();
  const rows = await sql<{ known: boolean }>`
    select to_regclass('mikro_orm_migrations') is not null as known`.execute(db);
  if (!rows.rows[0]?.known) return false;
  const found = await sql`
    select 1 from mikro_orm_migrations where name = ${SCHEMA_VERSION} and exists (
      select from pg_proc
      where pronamespace = current_schema()::regnamespace
        and (regexp_match(obj_description(oid, 'pg_proc'), '^revision ([0-9]+),'))[1]::int >= ${FUNCTIONS_REVISION})`.execute(
    db,
  );
  return found.rows.length > 0;
}
