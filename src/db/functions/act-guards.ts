import { boundedByHour } from './bounded-by-hour.js';
import type { SqlFunction } from './sql-function.js';

/**
 * Lets the guards of keys act (docs/decisions/0150-guards-of-keys.md). A guard acts once per month, when its key's spend in
 * that month reaches the guard's percentage of the monthly limit, and never for an earlier month after a later one. Months that
 * are over by the database's clock are left out. `p_keys` and `p_months` are pairs; keys without a guard are allowed.
 *
 * `charge_calls` calls it after `fire_alerts`, and each change of a guard or a limit calls it, too. All of them hold the lock of
 * the account, so no spend and no change is missed.
 *
 * If an alert at the same percentage fires in this transaction, its event also reports what the guard did. Every other active
 * subscription of the key gets a separate event; without any, the account's own address gets one. `alerted` lists the accounts
 * of all keys whose guard acted.
 */
export const actGuards: SqlFunction = {
  name: 'act_guards',
  sql: `
create or replace function act_guards(p_keys uuid[], p_months text[], p_most_mails integer, p_too_many text,
  out alerted text) language plpgsql volatile
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
with armed as materialized (
  select g.*, c.month from (
      select distinct key_id, month from unnest(p_keys, p_months) as t(key_id, month)
      where key_id is not null and month >= to_char(now() at time zone 'UTC', 'YYYY-MM')) c
  cross join lateral (
    select key_id, at_pct, action, model_public_name from key_guards
    where key_id = c.key_id and (acted_month is null or acted_month < c.month) offset 0) g
), measured as materialized (
  select a.*, k.*, key_month_spend(a.key_id, a.month) as spend
  from armed a cross join lateral (
    select account_id, name, key_prefix || '…' || last_four as key_prefix, monthly_limit_usd from api_keys
    where id = a.key_id and monthly_limit_usd is not null offset 0) k
), reached as materialized (
  select distinct on (key_id) * from measured
  where spend > 0 and spend * 100 >= at_pct * monthly_limit_usd order by key_id, month desc
), acted as (
  update key_guards g set acted_month = r.month, acted_at = now(), undone = false
  from reached r where g.key_id = r.key_id
), amended as (
  update alert_events e set guard_action = r.action, guard_model_public_name = r.model_public_name
  from reached r
  where e.key_id = r.key_id and e.billing_month = r.month and e.threshold_pct = r.at_pct and e.purpose = 'threshold'
    and e.created_in = pg_current_xact_id()
  returning e.subscription_id
), notified as materialized (
  select r.*, s.* from reached r cross join lateral (
    select id as subscription_id, kind, destination from alert_subscriptions
    where key_id = r.key_id and account_id = r.account_id and active offset 0) s
  where not exists (select from amended where amended.subscription_id = s.subscription_id)
  union all
  select r.*, null, 'email', (select email from accounts where id = r.account_id) from reached r
  where (select true from alert_subscriptions s where s.key_id = r.key_id and s.active limit 1) is null
), claimed as materialized (
  select t.*, case when kind = 'email' and p_most_mails <= (
      select count(*) from alert_events e
      where e.key_id = t.key_id and e.billing_month = t.month and e.purpose in ('threshold', 'guard')
        and e.subscription_id is not distinct from t.subscription_id) then p_too_many end as left_out
  from notified t where destination is not null
), ${boundedByHour('c.key_id, c.subscription_id')}, recorded as (
  insert into alert_events (id, account_id, key_id, subscription_id, purpose, kind, destination, key_name, key_prefix,
    threshold_pct, billing_month, spend, monthly_limit, guard_action, guard_model_public_name, fired_at, pending_since,
    delivery_status, next_attempt_at, finished_at, error_message)
  select uuid_v7(row_number() over (order by key_id)), account_id, key_id, subscription_id, 'guard', kind, destination,
    name, key_prefix, at_pct, month, spend, monthly_limit_usd, action, model_public_name, now(), now(),
    case when reason is null then 'pending' when kind = 'email' then 'degraded' else 'failed' end,
    case when reason is null then now() end, case when reason is not null then now() end, reason
  from bounded
)
select string_agg(distinct account_id::text, ' ') into alerted from reached;
end $$`,
};
