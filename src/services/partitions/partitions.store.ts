import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { limitStatements, takeTurn } from '../../db/in-transaction.js';
import { advisoryLocks } from '../../db/locks.js';
import { patiently } from '../../db/patience.js';
import { missingPartitions, type Partition, type PartitionSize } from './partitions.rules.js';
import { lockUsage } from './usage-lock.store.js';

/** Moving rows out of the default partition may exceed the usual statement timeout. */
const MOVE_TIMEOUT_MS = 60_000;

/** The partitions of `calls`, oldest first, without the default one. */
export const listPartitions = (em: EntityManager): Promise<Partition[]> => partitionsOf(em, 'calls');

/** The partitions of a table, oldest first, without the default one; none if there is no such table. */
export async function partitionsOf(em: EntityManager, parent: string): Promise<Partition[]> {
  // Reads the catalogue: `to_regclass` may use a cache that another process's commit hasn't reached yet.
  const { rows } = await sql<{ table: string; from_ms: number; until_ms: number }>`
    select relname as table, extract(epoch from bounds[1]::timestamptz)::float8 * 1000 as from_ms,
      extract(epoch from bounds[2]::timestamptz)::float8 * 1000 as until_ms
    from pg_inherits join pg_class on pg_class.oid = inhrelid
      cross join regexp_match(pg_get_expr(relpartbound, pg_class.oid), $$FROM \\('(.*)'\\) TO \\('(.*)'\\)$$) as bounds
    where inhparent = to_regclass(${parent}) and bounds is not null
    order by 2`.execute(em.getKysely());
  return rows.map(({ table, from_ms, until_ms }) => ({
    table,
    from: new Date(from_ms),
    until: new Date(until_ms),
  }));
}

/**
 * Adds one partition. PostgreSQL refuses to attach it while the default partition has rows of its period, so these
 * rows move into the new table first. Needs the locks of `lockTables`.
 */
async function addPartition(em: EntityManager, { table, from, until }: Partition): Promise<void> {
  const db = em.getKysely();
  const name = sql.id(table);
  const [start, end] = [from.toISOString(), until.toISOString()];
  await sql`create table ${name} (like calls including defaults including constraints)`.execute(db);
  await sql`create unique index ${sql.id(`${table}_id`)} on ${name} (id)`.execute(db);
  await sql`
    with moved as (
      delete from calls_default where created_at >= ${start} and created_at < ${end} returning *
    ) insert into ${name} select * from moved`.execute(db);
  await sql`
    alter table calls attach partition ${name} for values from (${sql.lit(start)}) to (${sql.lit(end)})`.execute(
    db,
  );
}

/**
 * Locks out writers of the table, and everybody from its default partition, as `attach partition` needs in the end.
 * That lock comes first: holding the writers' lock while waiting for it would stop all charging for as long as an
 * audit reads.
 */
const lockTables = (em: EntityManager): Promise<void> =>
  lockUsage(em, [
    sql`lock table calls_default in access exclusive mode`,
    sql`lock table calls in share row exclusive mode`,
  ]);

/**
 * Ensures that this month and the next two have their partition of `calls`, or this day and the next fourteen.
 * Safe to run anywhere and in many processes at once; joins the transaction of `em`, if any.
 * @returns the names of the added partitions.
 * @throws NotNow, with nothing done, while somebody reads all usage. Until the next run the default partition takes
 * the rows.
 */
export async function ensurePartitions(
  em: EntityManager,
  nowMs: number,
  size: PartitionSize = 'month',
): Promise<string[]> {
  const missing = async (of: EntityManager) => missingPartitions(nowMs, size, await listPartitions(of));
  if ((await missing(em)).length === 0) return [];
  return patiently(MOVE_TIMEOUT_MS, () =>
    em.transactional(async (inner) => {
      await limitStatements(inner, MOVE_TIMEOUT_MS);
      await lockPartitions(inner);
      const partitions = await missing(inner);
      if (partitions.length > 0) await lockTables(inner);
      for (const partition of partitions) await addPartition(inner, partition);
      return partitions.map(({ table }) => table);
    }),
  );
}

/** Serializes adding and removing partitions until the transaction ends. */
export const lockPartitions = (em: EntityManager): Promise<void> => takeTurn(em, advisoryLocks.partitions);
