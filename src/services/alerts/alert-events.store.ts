import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { ALERT_PENDING_CHANNEL } from '../../db/invalidation.js';
import { formatTimestamp } from '../../lib/clock.js';
import {
  type ConnectionPage,
  pageOfRows,
  type TimeConnectionInput,
  timeCursor,
} from '../../lib/connection-input.js';
import { formatDecimal } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import type { AlertEventOutput } from './alerts.outputs.js';
import type { OwnAlert } from './alerts.store.js';

/** An alert event as it is read. */
export interface AlertEventRow
  extends Omit<
    AlertEventOutput,
    'fired_at' | 'finished_at' | 'mtd_spend_usd' | 'monthly_limit_usd' | 'balance_usd'
  > {
  fired_us: string;
  finished_ms: number | null;
  spend: string | null;
  monthly_limit: string | null;
  balance: string | null;
}

/** Columns of `alert_events e` that make an `AlertEventRow`. */
export const alertEventColumns = sql`e.id, e.purpose, e.key_id, e.key_name, e.subscription_id, e.kind, e.destination,
  e.threshold_pct::int as threshold_pct, e.billing_month, e.guard_action, e.guard_model_public_name, e.spend::text, e.monthly_limit::text, e.balance::text,
  e.delivery_status, e.attempts::int as attempts, e.response_code, e.error_message,
  (extract(epoch from e.fired_at) * 1000000)::bigint::text as fired_us,
  floor(extract(epoch from e.finished_at) * 1000)::float8 as finished_ms`;

const decimalOrNull = (text: string | null): string | null => text && formatDecimal(text);

export function toAlertEvent(row: AlertEventRow): AlertEventOutput {
  const { fired_us, finished_ms, spend, monthly_limit, balance, ...rest } = row;
  return {
    ...rest,
    mtd_spend_usd: decimalOrNull(spend),
    monthly_limit_usd: decimalOrNull(monthly_limit),
    balance_usd: decimalOrNull(balance),
    fired_at: formatTimestamp(Math.floor(Number(fired_us) / 1000)),
    finished_at: finished_ms === null ? null : formatTimestamp(finished_ms),
  };
}

/** Events of an account, newest first: of one key, or of all keys including deleted ones. */
export async function listAlertEvents(
  em: EntityManager,
  { accountId, keyId, limit, offset }: { accountId: string; keyId?: string } & PageInput,
): Promise<AlertEventOutput[]> {
  const ofKey = keyId === undefined ? sql`` : sql`and e.key_id = ${keyId}`;
  const { rows } = await sql<AlertEventRow>`
    select ${alertEventColumns} from alert_events e where e.account_id = ${accountId} ${ofKey}
    order by e.fired_at desc, e.id desc limit ${limit} offset ${offset}::bigint`.execute(em.getKysely());
  return rows.map(toAlertEvent);
}

const isAfter = (after: TimeConnectionInput['after']): RawBuilder<unknown> =>
  after
    ? sql`and (e.fired_at, e.id) <
        (timestamptz 'epoch' + ${after.createdUs}::bigint * interval '1 microsecond', ${after.id}::uuid)`
    : sql``;

const toPage = (rows: readonly AlertEventRow[], first: number): ConnectionPage<AlertEventOutput> =>
  pageOfRows(rows, first, (row) => ({
    cursor: timeCursor({ createdUs: row.fired_us, id: row.id }),
    node: toAlertEvent(row),
  }));

/** A page of an account's events by cursor. */
export async function pageAlertEvents(
  em: EntityManager,
  { accountId, first, after }: { accountId: string } & TimeConnectionInput,
): Promise<ConnectionPage<AlertEventOutput>> {
  const { rows } = await sql<AlertEventRow>`
    select ${alertEventColumns} from alert_events e where e.account_id = ${accountId} ${isAfter(after)}
    order by e.fired_at desc, e.id desc limit ${first + 1}`.execute(em.getKysely());
  return toPage(rows, first);
}

/** The same page of each of several keys, in one statement. Keys without events are absent. */
export async function pageKeyAlertEvents(
  em: EntityManager,
  { accountId, keyIds, first, after }: { accountId: string; keyIds: readonly string[] } & TimeConnectionInput,
): Promise<Map<string, ConnectionPage<AlertEventOutput>>> {
  const { rows } = await sql<AlertEventRow>`
    select e.* from unnest(${keyIds}::uuid[]) as k(id) cross join lateral (
      select ${alertEventColumns} from alert_events e
      where e.key_id = k.id and e.account_id = ${accountId} ${isAfter(after)}
      order by e.fired_at desc, e.id desc limit ${first + 1}) e`.execute(em.getKysely());
  const byKey = Map.groupBy(rows, (row) => row.key_id!);
  return new Map([...byKey].map(([keyId, list]) => [keyId, toPage(list, first)]));
}

/** One event of the account. */
export async function findAlertEvent(
  em: EntityManager,
  { accountId, id }: { accountId: string; id: string },
): Promise<AlertEventOutput | undefined> {
  const { rows } = await sql<AlertEventRow>`
    select ${alertEventColumns} from alert_events e
    where e.id = ${id} and e.account_id = ${accountId}`.execute(em.getKysely());
  return rows[0] && toAlertEvent(rows[0]);
}

/**
 * Inserts a test event: the subscription's lowest percentage and the key's current spend. False without such a
 * subscription.
 */
export async function insertTestEvent(
  em: EntityManager,
  { accountId, keyId, id }: OwnAlert,
  { eventId, month }: { eventId: string; month: string },
): Promise<boolean> {
  const { rows } = await sql`
    insert into alert_events (id, account_id, key_id, subscription_id, purpose, kind, destination, key_name, key_prefix,
      threshold_pct, billing_month, spend, monthly_limit, fired_at, pending_since, next_attempt_at)
    select ${eventId}, s.account_id, s.key_id, s.id, 'test', s.kind, s.destination, k.name,
      k.key_prefix || '…' || k.last_four, s.thresholds_pct[1], ${month}, key_month_spend(s.key_id, ${month}), k.monthly_limit_usd,
      now(), now(), now()
    from alert_subscriptions s join api_keys k on k.id = s.key_id
    where s.id = ${id} and s.key_id = ${keyId} and s.account_id = ${accountId}
    returning id`.execute(em.getKysely());
  return rows.length > 0;
}

/**
 * Makes a finished event pending again, for a new series of attempts to the current destination of its subscription.
 * The holder of the previous series can no longer write.
 * @returns false when it is pending, or its subscription or account is gone.
 */
export async function reviveEvent(
  em: EntityManager,
  { accountId, id }: { accountId: string; id: string },
): Promise<boolean> {
  const { rows } = await sql`
    update alert_events e set delivery_status = 'pending', attempts = 0, redeliveries = e.redeliveries + 1,
      destination = w.destination, pending_since = now(), next_attempt_at = now(), lease_token = e.lease_token + 1,
      leased_until = null, finished_at = null, response_code = null, error_message = null
    from (
      select id, destination from alert_subscriptions where account_id = ${accountId}
      union all
      select null, email from accounts where id = ${accountId} and email is not null) w
    where e.id = ${id} and e.account_id = ${accountId} and e.delivery_status <> 'pending'
      and w.id is not distinct from e.subscription_id
    returning e.id`.execute(em.getKysely());
  return rows.length > 0;
}

/** Wakes the delivery worker when the current transaction commits. */
export async function notifyAlertPending(em: EntityManager): Promise<void> {
  await sql`select pg_notify(${ALERT_PENDING_CHANNEL}, '')`.execute(em.getKysely());
}

/** Removes personal data from the events of an account, and ends pending deliveries. */
export async function scrubAlertEvents(em: EntityManager, accountId: string): Promise<void> {
  await sql`
    update alert_events set destination = '', key_name = null,
      error_message = case when delivery_status = 'pending' then 'Not sent: the account was deleted.' else error_message end,
      finished_at = case when delivery_status = 'pending' then now() else finished_at end,
      lease_token = lease_token + 1, leased_until = null, next_attempt_at = null,
      delivery_status = case when delivery_status = 'pending' then 'failed' else delivery_status end
    where account_id = ${accountId}`.execute(em.getKysely());
}
