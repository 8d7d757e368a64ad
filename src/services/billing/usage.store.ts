import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { formatTimestamp } from '../../lib/clock.js';
import { formatDecimal } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import type { UsageItemOutput } from './billing.outputs.js';

/** A row of `usageColumns`. */
export type UsageColumns = Omit<UsageItemOutput, 'created_at'> & {
  /** Microseconds. */
  created_us: string;
};

/** Columns of `usage_events u`. */
export const usageColumns = sql`u.id, u.served_model as model_public_name, u.requested_model, u.key_id, u.endpoint, u.stream,
  u.input_tokens, u.output_tokens, u.cost::text as cost_usd, u.latency_ms, u.ttft_ms, u.status, u.error_code,
  u.http_status, u.client_aborted, u.estimated, u.anomalous, u.prompt_version_id, u.widget_id,
  u.error_message, u.balance_after::text as balance_after_usd,
  (extract(epoch from u.created_at) * 1000000)::bigint::text as created_us`;

/**
 * A page of an account's usage, newest first, and the total number of events.
 *
 * Counting or skipping a million rows would take a second, so it does neither: the flush maintains
 * `account_usage_hours` (events per account and UTC hour of `created_at`). Its sum is the total. Its running sum,
 * newest hour first, finds the hours of the page, and only rows of the first one are skipped, on the index
 * (account_id, created_at desc, id desc) alone. Total and items belong together on one snapshot.
 */
export async function listUsage(
  em: EntityManager,
  accountId: string,
  page: PageInput,
): Promise<{ items: UsageItemOutput[]; total: number }> {
  const { total, ...hours } = await hoursOfPage(em, accountId, page);
  const rows = hours.from === null ? [] : await rowsOfPage(em, accountId, page.limit, hours);
  return { items: rows.map(toUsageItem), total };
}

/** The hours of a page. */
interface PageHours {
  /** Milliseconds. */
  from: number;
  until: number;
  /** Number of events in it that precede the page. */
  skip: number;
}

async function hoursOfPage(
  em: EntityManager,
  accountId: string,
  { limit, offset }: PageInput,
): Promise<{ total: number } & (PageHours | { from: null })> {
  const { rows } = await sql<{ total: number } & (PageHours | { from: null })>`
    with hours as materialized (
      select hour, events, sum(events) over (order by hour desc) as up_to_here
      from account_usage_hours where account_id = ${accountId}
    ), page as (
      select * from hours
      where up_to_here > ${offset}::bigint and up_to_here - events < ${offset}::bigint + ${limit}::bigint
    )
    select (select coalesce(sum(events), 0)::float8 from hours) as total,
      (extract(epoch from min(hour)) * 1000)::float8 as from,
      (extract(epoch from max(hour) + interval '1 hour') * 1000)::float8 as until,
      (${offset}::bigint - min(up_to_here - events))::float8 as skip
    from page`.execute(em.getKysely());
  return rows[0]!;
}

async function rowsOfPage(
  em: EntityManager,
  accountId: string,
  limit: number,
  hours: PageHours,
): Promise<UsageColumns[]> {
  const from = new Date(hours.from).toISOString();
  const until = new Date(hours.until).toISOString();
  const { rows } = await sql<UsageColumns>`
    with page as materialized (
      select created_at, id from usage_events
      where account_id = ${accountId} and created_at >= ${from} and created_at < ${until}
      order by created_at desc, id desc offset ${hours.skip}::bigint limit ${limit}
    )
    select ${usageColumns}
    from page join usage_events u on u.created_at = page.created_at and u.id = page.id
      and u.created_at >= ${from} and u.created_at < ${until}
    order by u.created_at desc, u.id desc`.execute(em.getKysely());
  return rows;
}

/** The number of events of an account. */
export async function countUsage(em: EntityManager, accountId: string): Promise<number> {
  const { rows } = await sql<{ n: string }>`
    select coalesce(sum(events), 0)::text as n from account_usage_hours where account_id = ${accountId}
    `.execute(em.getKysely());
  return Number(rows[0]!.n);
}

/** Events of an account by id and time of completion (milliseconds), in no particular order. */
export async function findUsage(
  em: EntityManager,
  accountId: string,
  events: readonly { id: string; completedMs: number }[],
): Promise<UsageItemOutput[]> {
  if (events.length === 0) return [];
  const times = events.map(({ completedMs }) => new Date(completedMs).toISOString());
  const ordered = times.toSorted();
  const { rows } = await sql<UsageColumns>`
    select ${usageColumns}
    from unnest(${events.map(({ id }) => id)}::uuid[], ${times}::timestamptz[]) as wanted (id, completed_at)
    join usage_events u on u.id = wanted.id and u.account_id = ${accountId} and u.created_at = wanted.completed_at
      and u.created_at between ${ordered[0]!} and ${ordered.at(-1)!}`.execute(em.getKysely());
  return rows.map(toUsageItem);
}

export function toUsageItem(row: UsageColumns): UsageItemOutput {
  return {
    id: row.id,
    model_public_name: row.model_public_name,
    requested_model: row.requested_model,
    key_id: row.key_id,
    endpoint: row.endpoint,
    stream: row.stream,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    cost_usd: formatDecimal(row.cost_usd),
    latency_ms: row.latency_ms,
    ttft_ms: row.ttft_ms,
    status: row.status,
    error_code: row.error_code,
    http_status: row.http_status,
    client_aborted: row.client_aborted,
    estimated: row.estimated,
    anomalous: row.anomalous,
    prompt_version_id: row.prompt_version_id,
    created_at: formatTimestamp(Math.floor(Number(row.created_us) / 1000)),
    widget_id: row.widget_id,
    error_message: row.error_message,
    balance_after_usd: row.balance_after_usd && formatDecimal(row.balance_after_usd),
  };
}
