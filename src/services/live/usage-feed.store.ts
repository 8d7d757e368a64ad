import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { hourStart } from '../../lib/clock.js';
import type { UsageItemOutput } from '../billing/billing.outputs.js';
import { toUsageItem, type UsageColumns, usageColumns } from '../billing/usage.store.js';
import { andBehind, type FeedPosition } from './feed-page.store.js';

/** The visible usage of an account at one instant. */
export interface UsageInstant {
  /** PostgreSQL's snapshot. */
  snapshot: string;
  /** Events that completed since the beginning of the hour of `boundaryMs`. */
  events: number;
}

export interface FreshQuery {
  accountId: string;
  boundaryMs: number;
  /** Events committed by this snapshot are known. */
  seen: string;
  /** Start of the times of completion that are searched. */
  fromMs: number;
  /** Their end, if the search has one. */
  untilMs?: number | undefined;
  limit: number;
  /** For a further page: the first page's snapshot and the end of the previous page. */
  rest?: FeedPosition;
}

export interface FreshUsage extends UsageInstant {
  /** Total number of new events; `rows` are the first of them. */
  found: number;
  rows: (UsageItemOutput & { createdUs: string })[];
}

/** A value, not an expression: PostgreSQL chooses partitions by it when it plans. */
const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

/**
 * The flush counts events per hour in the transaction that writes them. The sums give their number, independent of
 * the writers' clocks.
 */
const events = (accountId: string, boundaryMs: number): RawBuilder<string> => sql<string>`(
  select coalesce(sum(events), 0)::text from account_usage_hours
  where account_id = ${accountId} and hour >= ${timeOf(hourStart(boundaryMs))})`;

/** The current state. */
export async function usageInstant(
  em: EntityManager,
  accountId: string,
  boundaryMs: number,
): Promise<UsageInstant> {
  const { rows } = await sql<{ snapshot: string; events: string }>`
    select pg_current_snapshot()::text as snapshot, ${events(accountId, boundaryMs)} as events`.execute(
    em.getKysely(),
  );
  return { snapshot: rows[0]!.snapshot, events: Number(rows[0]!.events) };
}

/**
 * Events whose transaction was invisible in the snapshot `seen` and is visible now, by time of completion. Neither
 * ids nor times can decide that: several edges write, and events of a dead edge are written hours later.
 *
 * A row's `xmin` is the lower half of the id of the transaction that wrote it. The upper half is the current one, or
 * one less if the id would otherwise lie in the future.
 */
export async function freshUsage(em: EntityManager, query: FreshQuery): Promise<FreshUsage> {
  const { accountId, boundaryMs, seen, fromMs, untilMs, limit, rest } = query;
  const writer = sql`(greatest(0, now_at.base + u.xid::text::bigint
    - case when now_at.base + u.xid::text::bigint >= now_at.next then 4294967296 else 0 end))::text::xid8`;
  const remaining = andBehind(rest, { writer, at: sql`u.created_at`, id: sql`u.id` });
  const { rows } = await sql<
    { snapshot: string; events: string; found: number | null } & (
      | UsageColumns
      | { [name in keyof UsageColumns]: null }
    )
  >`
    with now_at as materialized (
      select next, next - next % 4294967296 as base
      from (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next) s
    ), fresh as materialized (
      select ${usageColumns}, u.created_at, count(*) over ()::int as found
      from usage_events u cross join now_at
      where u.account_id = ${accountId} and u.created_at >= ${timeOf(fromMs)}
        ${untilMs === undefined ? sql`` : sql`and u.created_at < ${timeOf(untilMs)}`}
        and not pg_visible_in_snapshot(${writer}, ${seen}::pg_snapshot) ${remaining}
      order by u.created_at, u.id limit ${limit}
    )
    select pg_current_snapshot()::text as snapshot, ${events(accountId, boundaryMs)} as events, fresh.*
    from (select 1) one left join fresh on true
    order by fresh.created_at, fresh.id`.execute(em.getKysely());
  return {
    snapshot: rows[0]!.snapshot,
    events: Number(rows[0]!.events),
    found: rows[0]!.found ?? 0,
    rows: rows.flatMap((row) =>
      row.id === null ? [] : [{ ...toUsageItem(row as UsageColumns), createdUs: row.created_us as string }],
    ),
  };
}
