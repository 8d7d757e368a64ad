import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { usageView } from '../../db/usage-view.js';
import { UsageRetention } from '../../entities/billing/usage-retention.js';
import { lockRollups } from '../analytics/rollups.store.js';
import { lockPartitions, partitionsOf } from '../partitions/partitions.store.js';
import { lockUsage, NotNow } from '../partitions/usage-lock.store.js';
import { keptFrom } from './kept-from.store.js';
import type { Removal } from './retention.rules.js';

/** Tables of calls: the present one, and the one of versions up to 1.1. */
export const USAGE_TABLES = ['former_usage_events', 'calls'] as const;
export type UsageTable = (typeof USAGE_TABLES)[number];

/**
 * Deletes usage events before a time, and their counts for lists. Their roll-ups and the ledger stay.
 * @returns the number of deleted rows; undefined if another process has done it.
 * @throws NotNow, with nothing done, when some of their hours aren't rolled up, or another process reads or rolls up.
 */
export async function removeUsage(
  em: EntityManager,
  parent: UsageTable,
  { table, until }: Removal,
): Promise<number | undefined> {
  const db = em.getKysely();
  await lockPartitions(em);
  if (table !== null && !(await partitionsOf(em, parent)).some((one) => one.table === table)) return undefined;
  if (!(await lockRollups(em))) throw new NotNow('usage is being rolled up');
  await requireRolledUp(em, until);
  await requirePosted(em, until);
  // Most of them before the table is locked: the usage of all calls waits during the lock.
  let removed = await removeHours(em, until);
  if (table !== null) {
    await lockUsage(em, [sql`lock table ${sql.id(parent)} in access exclusive mode`]);
    await requireRolledUp(em, until);
  }
  await sql`delete from ${sql.id(`${parent}_default`)} where created_at < ${until}`.execute(db);
  // After the events: the next run finds events that arrive just now, and their counts.
  removed += await removeHours(em, until);
  if (table !== null) await sql`drop table ${sql.id(table)}`.execute(db);
  await sql`
    insert into usage_retention (kept_from) values (${until})
    on conflict (only_row) do update set kept_from = greatest(usage_retention.kept_from, excluded.kept_from)
    `.execute(db);
  return removed;
}

/** Whether the default partition has rows from before a time. */
export async function hasUsageBefore(em: EntityManager, parent: UsageTable, until: Date): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (select from ${sql.id(`${parent}_default`)} where created_at < ${until}) as has`.execute(
    em.getKysely(),
  );
  return rows[0]!.has;
}

/** Whether there is a table. */
export async function hasTable(em: EntityManager, name: string): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`select to_regclass(${name}) is not null as has`.execute(
    em.getKysely(),
  );
  return rows[0]!.has;
}

/** Drops the table of versions up to 1.1 once it is empty, unless it is in use. */
export async function dropFormerUsage(em: EntityManager): Promise<void> {
  const db = em.getKysely();
  await lockPartitions(em);
  if ((await partitionsOf(em, 'former_usage_events')).length > 0) return;
  await lockUsage(em, [sql`lock table former_usage_events in access exclusive mode`]);
  const left = await sql`select from former_usage_events limit 1`.execute(db);
  if (left.rows.length > 0) return;
  await sql.raw(usageView(false)).execute(db);
  await sql`drop table former_usage_events`.execute(db);
  await sql`delete from former_usage`.execute(db);
}

/** The time from which usage is kept; null if none was ever deleted. */
export async function usageKeptFrom(em: EntityManager): Promise<Date | null> {
  const row = await em.findOne(UsageRetention, { onlyRow: true }, UNTRACKED);
  return row?.keptFrom ?? null;
}

/** @returns the number of events in the hours. */
async function removeHours(em: EntityManager, until: Date): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    with gone as (delete from account_usage_hours where hour < ${until} returning events)
    select coalesce(sum(events), 0)::float8 as events from gone`.execute(em.getKysely());
  return rows[0]!.events;
}

/** A call whose charge isn't in the ledger yet is its only record. */
async function requirePosted(em: EntityManager, until: Date): Promise<void> {
  const { rows } = await sql`
    select from accounts a left join lateral (
      select seq, created_at from ledger_entries where account_id = a.id order by seq desc limit 1) l on true
    where a.ledger_seq > coalesce(l.seq, 0) and coalesce(l.created_at, '-infinity') < ${until} limit 1`.execute(
    em.getKysely(),
  );
  if (rows.length > 0) throw new NotNow('some of its charges are not in the ledger yet');
}

async function requireRolledUp(em: EntityManager, until: Date): Promise<void> {
  const { rows } = await sql`
    select from rollup_dirty where hour >= ${keptFrom} and hour < ${until} limit 1`.execute(em.getKysely());
  if (rows.length > 0) throw new NotNow('some of its hours are not rolled up yet');
}
