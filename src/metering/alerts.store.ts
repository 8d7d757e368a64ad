import type { Question } from '../db/bounded.js';
import { utcMonth } from '../lib/clock.js';
import { newId } from '../lib/ids.js';
import type { UsageRecord } from './usage-record.js';

/** Mails that one subscription sends for one key and month: its thresholds can be changed, its address be a stranger's. */
export const MAX_MAILS_PER_MONTH = 5;

/**
 * What fires now, and the claim to it. Run behind the writing of the events, under the lock of their accounts: it sees
 * the spend after them, and whoever writes usage of the same keys waits.
 * The writing tells whether anybody waits for one of these keys or accounts: most flushes never come here.
 * `usage_events.xmin` tells what this transaction inserted: an event that was there already was evaluated then.
 * Look-ups are lateral or scalar subqueries and not joins: a plan that was made while tables were small stays, and must
 * not read them from end to end, nor all of an account's events.
 */
const CLAIM_ALERTS = {
  name: 'metering-alerts',
  text: `
with subscribed as materialized (
  select s.*, k.month, k.from_ms, k.to_ms
  from unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[]) as k(key_id, month, from_ms, to_ms)
    cross join lateral (
      select id, account_id, key_id, kind, destination, thresholds_pct from alert_subscriptions
      where key_id = k.key_id and active offset 0) s
), measured as materialized (
  select s.*, k.*, coalesce((select spend from key_spend_months m
    where m.key_id = s.key_id and m.month = s.month), 0) as spend
  from subscribed s cross join lateral (
    select name, key_prefix || '…' || last_four as key_prefix, monthly_limit_usd from api_keys
    where id = s.key_id and account_id = s.account_id and monthly_limit_usd is not null offset 0) k
), above as materialized (
  select m.*, pct from measured m cross join unnest(m.thresholds_pct) as pct
  where m.spend * 100 >= pct * m.monthly_limit_usd
), reached as materialized (
  select * from above a
  where (select true from threshold_firings f
      where f.key_id = a.key_id and f.month = a.month and f.threshold_pct = a.pct) is null
    and (select true from usage_events u
      where u.account_id = a.account_id and u.key_id = a.key_id and u.status = 'success'
        and u.created_at between timestamptz 'epoch' + a.from_ms * interval '1 millisecond'
          and timestamptz 'epoch' + a.to_ms * interval '1 millisecond'
        and u.xmin = pg_current_xact_id()::xid limit 1)
), fired as (
  insert into threshold_firings (key_id, month, threshold_pct, fired_at)
  select distinct key_id, month, pct, now() from reached order by 1, 2, 3
  on conflict do nothing
  returning key_id, month, threshold_pct
), low as (
  update accounts set low_balance_armed = false
  where id = any($5::uuid[]) and low_balance_armed and balance < low_balance_threshold_usd
  returning id, email, balance
)
select 'threshold' as purpose, r.account_id, r.key_id, r.id as subscription_id, r.kind, r.destination,
  r.name as key_name, r.key_prefix, r.pct as threshold_pct, r.month as billing_month, r.spend::text,
  r.monthly_limit_usd::text as monthly_limit, null as balance,
  r.kind = 'email' and ${MAX_MAILS_PER_MONTH} < row_number() over (partition by r.id, r.month order by r.pct) + (
    select count(*) from alert_events e
    where e.purpose = 'threshold' and e.subscription_id = r.id and e.key_id = r.key_id and e.billing_month = r.month)
    as over_limit
from fired f join reached r on r.key_id = f.key_id and r.month = f.month and r.pct = f.threshold_pct
union all
select 'low_balance', id, null, null, 'email', email, null, null, null, null, null, null, balance::text, false
from low where email is not null`,
};

const OVER_LIMIT = `Not sent: a subscription sends at most ${MAX_MAILS_PER_MONTH} mails per key and month.`;

/**
 * The record of what fired, and the outbox that the delivery takes it from. A conflict can't be, but through a hand in the
 * tables: usage must not be refused for it.
 */
const RECORD_ALERTS = `
insert into alert_events (id, account_id, key_id, subscription_id, purpose, kind, destination, key_name, key_prefix,
  threshold_pct, billing_month, spend, monthly_limit, balance, fired_at, pending_since, delivery_status,
  next_attempt_at, finished_at, error_message)
select id, account_id, key_id, subscription_id, purpose, kind, destination, key_name, key_prefix, threshold_pct,
  billing_month, spend, monthly_limit, balance, now(), now(), case when over_limit then 'failed' else 'pending' end,
  case when not over_limit then now() end, case when over_limit then now() end, case when over_limit then $2 end
from json_to_recordset($1) as e(id uuid, account_id uuid, key_id uuid, subscription_id uuid, purpose text, kind text,
  destination text, key_name text, key_prefix text, threshold_pct smallint, billing_month text, spend numeric,
  monthly_limit numeric, balance numeric, over_limit boolean)
on conflict do nothing`;

interface ClaimedAlert {
  account_id: string;
  [column: string]: unknown;
}

type Ask = <Row extends object>(question: Question) => Promise<{ rows: Row[] }>;

/**
 * Fires what the events just written reach, inside their transaction: every percentage of a key's monthly limit that
 * an active subscription lists, once per key, month and percentage; and low balances, once per crossing.
 * @returns the accounts that have new alert events.
 */
export async function fireAlerts(ask: Ask, records: readonly UsageRecord[]): Promise<string[]> {
  const claimed = await ask<ClaimedAlert>({ ...CLAIM_ALERTS, values: concernedBy(records) });
  if (claimed.rows.length === 0) return [];
  const events = claimed.rows.map((row) => ({ id: newId(), ...row }));
  await ask({ text: RECORD_ALERTS, values: [JSON.stringify(events), OVER_LIMIT] });
  return [...new Set(claimed.rows.map((row) => row.account_id))];
}

/** Which keys succeeded, in which months and between which times, and which accounts paid, as array literals. */
function concernedBy(records: readonly UsageRecord[]): string[] {
  const spans = new Map<string, { keyId: string; month: string; from: number; to: number }>();
  const payers = new Set<string>();
  for (const { accountId, keyId, createdAt, status, cost } of records) {
    if (cost > 0n) payers.add(accountId);
    if (keyId === null || status !== 'success') continue;
    const month = utcMonth(createdAt);
    const known = spans.get(`${keyId} ${month}`);
    if (!known) {
      spans.set(`${keyId} ${month}`, { keyId, month, from: createdAt, to: createdAt });
      continue;
    }
    known.from = Math.min(known.from, createdAt);
    known.to = Math.max(known.to, createdAt);
  }
  const keys = [...spans.values()];
  const literal = (values: Iterable<string | number>): string => `{${[...values].join(',')}}`;
  return [
    literal(keys.map(({ keyId }) => keyId)),
    literal(keys.map(({ month }) => month)),
    literal(keys.map(({ from }) => from)),
    literal(keys.map(({ to }) => to)),
    literal(payers),
  ];
}
