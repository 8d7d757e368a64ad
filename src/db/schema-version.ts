import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { FUNCTIONS_REVISION } from './functions/revision.js';

/**
 * The newest migration that this build knows (`test/db/migrations` checks it). Named here, since the processes that only wait
 * for it load none.
 */
export const SCHEMA_VERSION = 'Migration20261221000000';

/**
 * Whether the database has every migration that this build knows, and its functions or those of a later build. What one
 * start applies it commits together, so that one function of a revision speaks for all.
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
