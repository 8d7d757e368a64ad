import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { advisoryLocks } from '../../db/locks.js';
import { patiently } from '../../db/patience.js';
import { type MonthPartition, wantedPartitions } from './partitions.rules.js';

/** Moving a month out of the default partition may take longer than a statement usually may. */
const MOVE_TIMEOUT_MS = 60_000;

/** Asks the catalogue's rows: `to_regclass` may answer from a cache that another's commit hasn't reached yet. */
async function exists(em: EntityManager, table: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select 1 from pg_inherits where inhparent = 'usage_events'::regclass
        and inhrelid in (select oid from pg_class where relname = ${table})) as found`.execute(
    em.getKysely(),
  );
  return rows[0]!.found;
}

/**
 * Adds one month. Rows of it that already sit in the default partition would make PostgreSQL refuse, so they move
 * into the new table before it is attached. Writers wait meanwhile, readers don't until the last moment.
 */
async function addPartition(em: EntityManager, { table, from, until }: MonthPartition): Promise<void> {
  const db = em.getKysely();
  const name = sql.id(table);
  const [start, end] = [from.toISOString(), until.toISOString()];
  await sql`lock table usage_events in share row exclusive mode`.execute(db);
  await sql`create table ${name} (like usage_events including defaults including constraints)`.execute(db);
  await sql`
    with moved as (
      delete from usage_events_default where created_at >= ${start} and created_at < ${end} returning *
    ) insert into ${name} select * from moved`.execute(db);
  await sql`
    alter table usage_events attach partition ${name} for values from (${sql.lit(start)}) to (${sql.lit(end)})`.execute(
    db,
  );
}

/**
 * Makes sure that this month and the next two have their partition of `usage_events`. Safe to run anywhere and
 * by many at once; joins the transaction that `em` is in, if any.
 * @returns the names of the partitions that it added.
 */
export async function ensurePartitions(em: EntityManager, nowMs: number): Promise<string[]> {
  const missing: MonthPartition[] = [];
  for (const partition of wantedPartitions(nowMs)) {
    if (!(await exists(em, partition.table))) missing.push(partition);
  }
  if (missing.length === 0) return [];
  return patiently(MOVE_TIMEOUT_MS, () =>
    em.transactional(async (inner) => {
      const db = inner.getKysely();
      await sql`select set_config('statement_timeout', ${String(MOVE_TIMEOUT_MS)}, true)`.execute(db);
      await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.partitions)})`.execute(db);
      const added: string[] = [];
      for (const partition of missing) {
        if (await exists(inner, partition.table)) continue;
        await addPartition(inner, partition);
        added.push(partition.table);
      }
      return added;
    }),
  );
}
