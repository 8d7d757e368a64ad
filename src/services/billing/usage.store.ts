import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { formatTimestamp } from '../../lib/clock.js';
import {
  type ConnectionPage,
  pageOfRows,
  pageOfRowsBefore,
  type TimeConnectionInput,
  type TimePosition,
  timeCursor,
} from '../../lib/connection-input.js';
import { formatDecimal } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import { isAfter, isBefore } from '../list-position.store.js';
import type { UsageItemOutput } from './billing.outputs.js';
import type { UsageSelection } from './usage-filter.rules.js';

/** A row of `usageColumns`. */
export type UsageColumns = Omit<UsageItemOutput, 'created_at'> & {
  /** Microseconds. */
  created_us: string;
};
/** Every row carries the total. Without items there is one row of nulls. */
type Row = { total: string } & (UsageColumns | { [name in keyof UsageColumns]: null });

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
 * newest hour first, finds the hour in which the offset falls, and only rows of that hour are skipped, on the index
 * (account_id, created_at desc, id desc) alone. One statement, so that total and items come from the same snapshot.
 */
export async function listUsage(
  em: EntityManager,
  accountId: string,
  { limit, offset }: PageInput,
): Promise<{ items: UsageItemOutput[]; total: number }> {
  const found = await sql<Row>`
    with hours as materialized (
      select hour, events, sum(events) over (order by hour desc) as up_to_here
      from account_usage_hours where account_id = ${accountId}
    ), first_hour as materialized (
      select hour, up_to_here - events as skipped from hours
      where up_to_here > ${offset}::bigint order by hour desc limit 1
    ), page as materialized (
      select created_at, id from usage_events
      where account_id = ${accountId}
        and created_at < (select hour + interval '1 hour' from first_hour)
      order by created_at desc, id desc
      offset ${offset}::bigint - (select skipped from first_hour) limit ${limit}
    )
    select total.events as total, event.*
    from (select coalesce(sum(events), 0)::text as events from hours) total
    left join (
      select ${usageColumns}, u.created_at
      from page join usage_events u on u.created_at = page.created_at and u.id = page.id
    ) event on true
    order by event.created_at desc, event.id desc`.execute(em.getKysely());
  const items = found.rows.filter((row) => row.id !== null) as (Row & UsageColumns)[];
  return { total: Number(found.rows[0]!.total), items: items.map(toUsageItem) };
}

/** A page by cursor, without the total: every page costs the same. */
export async function pageUsage(
  em: EntityManager,
  accountId: string,
  {
    first,
    after,
    before,
    selection,
  }: TimeConnectionInput & { before?: TimePosition | undefined; selection: UsageSelection },
): Promise<ConnectionPage<UsageItemOutput>> {
  const edgeOf = (row: UsageColumns) => ({
    cursor: timeCursor({ createdUs: row.created_us, id: row.id }),
    node: toUsageItem(row),
  });
  const limit = first + 1;
  if (before) {
    return pageOfRowsBefore(
      await usageRowsBefore(em, accountId, { before, selection, limit }),
      first,
      edgeOf,
    );
  }
  return pageOfRows(await usageRowsAfter(em, accountId, { after, selection, limit }), first, edgeOf);
}

/** Conditions on `usage_events u`. Rows are read along the index of the account, so a time range limits how many. */
const selected = ({ keyId, model, status, from, until }: UsageSelection): RawBuilder<unknown> => sql`
  ${keyId === undefined ? sql`` : sql`and u.key_id = ${keyId}`}
  ${model === undefined ? sql`` : sql`and u.served_model = ${model}`}
  ${status === undefined ? sql`` : sql`and u.status = ${status}`}
  ${from === undefined ? sql`` : sql`and u.created_at >= ${from.toISOString()}`}
  ${until === undefined ? sql`` : sql`and u.created_at < ${until.toISOString()}`}`;

/** Events of an account after a position, newest first. */
export async function usageRowsAfter(
  em: EntityManager,
  accountId: string,
  { after, selection, limit }: { after?: TimePosition | undefined; selection: UsageSelection; limit: number },
): Promise<UsageColumns[]> {
  const { rows } = await sql<UsageColumns>`
    select ${usageColumns} from usage_events u
    where u.account_id = ${accountId} ${selected(selection)} ${after ? sql`and ${isAfter('u', after)}` : sql``}
    order by u.created_at desc, u.id desc limit ${limit}`.execute(em.getKysely());
  return rows;
}

/** Events before a position, nearest first. */
async function usageRowsBefore(
  em: EntityManager,
  accountId: string,
  { before, selection, limit }: { before: TimePosition; selection: UsageSelection; limit: number },
): Promise<UsageColumns[]> {
  const { rows } = await sql<UsageColumns>`
    select ${usageColumns} from usage_events u
    where u.account_id = ${accountId} ${selected(selection)} and ${isBefore('u', before)}
    order by u.created_at, u.id limit ${limit}`.execute(em.getKysely());
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
  const { rows } = await sql<UsageColumns>`
    select ${usageColumns}
    from unnest(${events.map(({ id }) => id)}::uuid[], ${events.map(({ completedMs }) => completedMs)}::bigint[])
      as wanted (id, completed_ms)
    join usage_events u on u.id = wanted.id and u.account_id = ${accountId}
      and u.created_at = timestamptz 'epoch' + wanted.completed_ms * interval '1 millisecond'
    `.execute(em.getKysely());
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
