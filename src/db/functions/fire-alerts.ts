import { boundedByHour } from './bounded-by-hour.js';
import type { SqlFunction } from './sql-function.js';

/**
 * Decides which alerts fire and whom they notify. `charge_calls` calls it after it has written events, in the same
 * transaction, with the events' times, accounts, keys, costs and statuses.
 *
 * - **A percentage of a monthly limit** fires if a call of its key succeeded, the key's spend in the UTC month of that call is
 *   at least that percentage of the limit, and an active subscription lists it. It is claimed in `threshold_firings`, once
 *   per key, month and percentage; every active subscription that lists it gets a separate event.
 * - **A low balance** fires if a call was charged and the balance is below the account's threshold while the alert is armed.
 *   Firing disarms it; a credit that raises the balance arms it again. The email goes to the account's own address.
 * - **Recorded, but not sent**: emails beyond the `p_most_mails` of a subscription, key and month, with the reason `p_too_many`,
 *   and everything beyond 300 events of an account in an hour (docs/decisions/0065-deliveries-are-shared-by-account.md).
 *
 * It sees the spend including those events, and concurrent writers of usage of the same keys wait for the lock of the accounts.
 * Look-ups are lateral or scalar subqueries instead of joins, because plans are kept: one made while tables were small must not
 * scan large tables, or all events of an account.
 */
export const fireAlerts: SqlFunction = {
  name: 'fire_alerts',
  sql: `
create or replace function fire_alerts(p_at timestamptz[], p_account uuid[], p_key uuid[], p_cost numeric[], p_status text[],
  p_most_mails integer, p_too_many text, out alerted text) language plpgsql volatile
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
with called as materialized (
  select distinct key_id, to_char(at at time zone 'UTC', 'YYYY-MM') as month
  from unnest(p_at, p_key, p_status) as t(at, key_id, status)
  where key_id is not null and status = 'success'
), subscribed as materialized (
  select s.*, c.month
  from called c cross join lateral (
    select id, account_id, key_id, kind, destination, thresholds_pct from alert_subscriptions
    where key_id = c.key_id and active offset 0) s
), measured as materialized (
  select s.*, k.*, key_month_spend(s.key_id, s.month) as spend
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
), fired as (
  insert into threshold_firings (key_id, month, threshold_pct, fired_at)
  select distinct key_id, month, pct, now() from reached order by 1, 2, 3
  on conflict do nothing
  returning key_id, month, threshold_pct
), low as (
  update accounts set low_balance_armed = false, low_balance_told = true
  where id = any(array(select distinct account_id from unnest(p_account, p_cost) as t(account_id, cost) where cost > 0))
    and low_balance_armed and balance < low_balance_threshold_usd
  returning id, email, balance
), claimed as (
  select 'threshold' as purpose, r.account_id, r.key_id, r.id as subscription_id, r.kind, r.destination,
    r.name as key_name, r.key_prefix, r.pct as threshold_pct, r.month as billing_month, r.spend,
    r.monthly_limit_usd as monthly_limit, null::numeric as balance,
    case when r.kind = 'email' and p_most_mails < row_number() over (partition by r.id, r.month order by r.pct) + (
      select count(*) from alert_events e
      where e.purpose in ('threshold', 'guard') and e.subscription_id = r.id and e.key_id = r.key_id
        and e.billing_month = r.month) then p_too_many end as left_out
  from fired f join reached r on r.key_id = f.key_id and r.month = f.month and r.pct = f.threshold_pct
  union all
  select 'low_balance', id, null, null, 'email', email, null, null, null, null, null, null, balance, null
  from low where email is not null
), ${boundedByHour('c.key_id nulls first, c.threshold_pct, c.subscription_id')}, recorded as (
  insert into alert_events (id, account_id, key_id, subscription_id, purpose, kind, destination, key_name, key_prefix,
    threshold_pct, billing_month, spend, monthly_limit, balance, fired_at, pending_since, delivery_status,
    next_attempt_at, finished_at, error_message)
  select uuid_v7(row_number() over (order by billing_month, threshold_pct)), account_id, key_id, subscription_id,
    purpose, kind, destination, key_name, key_prefix, threshold_pct, billing_month, spend, monthly_limit, balance,
    now(), now(),
    case when reason is null then 'pending' when kind = 'email' then 'degraded' else 'failed' end,
    case when reason is null then now() end, case when reason is not null then now() end, reason
  from bounded
  -- Only tables edited by hand can conflict, and usage must not be rejected for that.
  on conflict do nothing
  returning account_id
)
select string_agg(distinct account_id::text, ' ') into alerted from recorded;
end $$`,
};
