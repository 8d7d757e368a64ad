import type { SqlFunction } from './sql-function.js';

/**
 * Writes finished calls, one element per call in `p_id` and the arrays after it, and everything that follows from them. The
 * flush (`src/metering/flush.store.ts`) calls it once per batch and computes the sums that it passes.
 *
 * - **Nothing is written** if a call is already recorded (`recorded` lists their ids) or an account doesn't exist (`unknown`
 *   lists those). The caller leaves these out and sends the rest again. An id is recorded once, whatever its time.
 * - A call that was given up as terminated, while its process was only paused, takes the place of that record once it finishes.
 * - `p_accounts` lists the accounts in order, so that flushes take turns; `p_totals` and `p_charges` have the sum and the number
 *   of their charges. `p_account` points into it. `p_later` and `p_behind` have the sum and number of the charges of the same
 *   account that follow in the batch: together with the account's new balance they give the balance after each call, and its
 *   place in the sequence of the account's charges and credits.
 * - A call from before the kept usage is an error: whether it was charged can't be known any more.
 * - What calls have in common (`p_route_…`: models, endpoint, prices, deployment, node) is passed and stored once.
 * - Days of keys (`p_day_…`) and hours of accounts (`p_hour_…`) are sorted by time and then by id; `p_day_ends` and
 *   `p_hour_ends` say how many rows belong to each time and those before. `width_bucket` finds a row in sorted ids.
 * - `balances`, `key_days` and `alerted` list the current values of the accounts and keys, and accounts with new alerts. For a
 *   widget, `key_days` has the number of answered messages of the day instead of a spend.
 * - Look-ups are by array or scalar subquery rather than by join, because plans are kept: one made while tables were small must
 *   not scan large ones. The time zone is set because naming one costs more than all other work on a time.
 * - Another flush holds an account for milliseconds. A transaction that holds it longer is not waited for
 *   (docs/decisions/0084-locked-accounts-wait-apart.md).
 */
export const chargeCalls: SqlFunction = {
  name: 'charge_calls',
  sql: `
create or replace function charge_calls(p_accounts uuid[], p_totals numeric[], p_charges integer[],
  p_route_requested text[], p_route_served text[], p_route_moved_to text[], p_route_endpoint text[], p_route_price_in numeric[],
  p_route_price_out numeric[], p_route_deployment text[], p_route_node uuid[],
  p_days date[], p_day_ends integer[], p_day_key uuid[], p_day_spend numeric[], p_day_last_ms bigint[],
  p_hours_ms bigint[], p_hour_ends integer[], p_hour_account uuid[], p_hour_events integer[],
  p_id uuid[], p_at_ms bigint[], p_account integer[], p_key uuid[], p_widget uuid[], p_prompt_version uuid[], p_route integer[],
  p_stream boolean[], p_input integer[], p_output integer[], p_cost numeric[], p_later numeric[], p_behind integer[],
  p_latency_ms integer[], p_ttft_ms integer[], p_failed boolean[], p_error text[], p_http_status integer[],
  p_aborted boolean[], p_estimated boolean[], p_anomalous boolean[], p_node_calls integer[], p_error_message text[],
  p_most_mails integer, p_too_many text,
  out recorded text, out unknown text, out balances text, out key_days text, out alerted text, out strange_versions integer)
language plpgsql volatile
  set timezone = 'UTC' set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
  set lock_timeout = '300ms' as $$
declare
  micro constant numeric := 0.000000000001;
  former_until timestamptz := (select f.until from former_usage f);
  routes integer[];
  versions uuid[] := p_prompt_version;
  balance_of numeric[];
  seq_of bigint[];
  low boolean;
  ids uuid[];
  days text;
  this_hour timestamptz;
  first integer;
  terminated uuid[];
  since timestamptz;
  kept_from timestamptz;
  until timestamptz;
begin
  select timestamptz 'epoch' + min(at_ms) * interval '1 millisecond' - interval '1 day',
    timestamptz 'epoch' + max(at_ms) * interval '1 millisecond' + interval '1 day'
  into since, until from unnest(p_at_ms) as at_ms;
  select string_agg(t.id::text, ' ') filter (where t.found <> 'gateway_terminated' or t.error = 'gateway_terminated'),
    array_agg(t.id) filter (where t.found = 'gateway_terminated' and t.error is distinct from 'gateway_terminated')
  into recorded, terminated
  from (
    select t.id, t.error, (select coalesce(c.error_code, '') from calls c
        where c.id = t.id and c.created_at > since and c.created_at < until limit 1) as found
    from unnest(p_id, p_error) as t(id, error) offset 0) t
  where t.found is not null;
  if former_until is not null then
    select nullif(concat_ws(' ', recorded, former_calls(p_id, p_at_ms, array(select p_accounts[nth] from unnest(p_account) as nth),
      former_until)), '') into recorded;
  end if;
  select string_agg(t.id::text, ' ') into unknown from unnest(p_accounts) as t(id)
  where (select true from accounts a where a.id = t.id) is null;
  if recorded is not null or unknown is not null then
    return;
  end if;
  select r.kept_from into kept_from from usage_retention r;
  if since + interval '1 day' < kept_from then
    raise exception 'a call from before %, the first time of which usage is kept, can no longer be charged', kept_from;
  end if;

  strange_versions := cardinality(array_remove(p_prompt_version, null));
  if strange_versions > 0 then
    select array_agg(case when named is not null then (
        select v.id from prompt_versions v where v.id = named
          and (select p.account_id from prompts p where p.id = v.prompt_id) = p_accounts[account]) end order by nth)
    into versions from unnest(p_prompt_version, p_account) with ordinality as t(named, account, nth);
    strange_versions := strange_versions - cardinality(array_remove(versions, null));
  end if;
  routes := call_route_ids(p_route_requested, p_route_served, p_route_moved_to, p_route_endpoint, p_route_price_in,
    p_route_price_out, p_route_deployment, p_route_node);

  with charged as (
    update accounts a set balance = a.balance - p_totals[width_bucket(a.id, p_accounts)] * micro,
      ledger_seq = a.ledger_seq + p_charges[width_bucket(a.id, p_accounts)]
    where a.id = any(p_accounts)
    returning a.id, a.balance, a.ledger_seq, a.low_balance_armed and a.balance < a.low_balance_threshold_usd as low)
  select array_agg(c.id order by c.id), array_agg(c.balance order by c.id), array_agg(c.ledger_seq order by c.id), bool_or(c.low),
    string_agg(c.id || ' ' || c.balance || ' ' || c.ledger_seq, ',')
  into ids, balance_of, seq_of, low, balances from charged c;
  if coalesce(ids, '{}') <> p_accounts then
    raise exception 'accounts changed while their calls were charged' using errcode = 'serialization_failure';
  end if;

  if terminated is not null then
    with gone as (
      delete from calls c
      where c.id = any(terminated) and c.created_at > since and c.created_at < until and c.error_code = 'gateway_terminated'
      returning c.account_id, c.widget_id, c.created_at
    ), hours as (
      update account_usage_hours h set events = h.events - g.events
      from (select account_id, date_trunc('hour', created_at) as hour, count(*) as events from gone group by 1, 2) g
      where h.account_id = g.account_id and h.hour = g.hour
    ), messages as (
      update widget_days d set errors = d.errors - g.errors
      from (select widget_id, created_at::date as day, count(*) as errors from gone where widget_id is not null group by 1, 2) g
      where d.widget_id = g.widget_id and d.day = g.day
    )
    insert into rollup_dirty (hour) select distinct date_trunc('hour', created_at) from gone;
  end if;

  insert into calls (created_at, id, account_id, key_id, seq, route_id, input_tokens, output_tokens, latency_ms, ttft_ms,
    http_status, node_calls, stream, failed, client_aborted, estimated, anomalous, cost, balance_after, widget_id,
    prompt_version_id, error_code, error_message)
  select timestamptz 'epoch' + at_ms * interval '1 millisecond', id, p_accounts[account], key_id,
    case when cost > 0 then seq_of[account] - behind end, routes[route], input, output, latency_ms, ttft_ms,
    http_status, least(node_calls, 32767), stream, failed, aborted, estimated, anomalous, cost * micro,
    case when cost > 0 then balance_of[account] + later * micro end, widget_id, version_id, error, error_message
  from unnest(p_id, p_at_ms, p_account, p_key, p_widget, versions, p_route, p_stream, p_input, p_output, p_cost, p_later,
      p_behind, p_latency_ms, p_ttft_ms, p_failed, p_error, p_http_status, p_aborted, p_estimated, p_anomalous, p_node_calls,
      p_error_message)
    as t(id, at_ms, account, key_id, widget_id, version_id, route, stream, input, output, cost, later, behind, latency_ms,
      ttft_ms, failed, error, http_status, aborted, estimated, anomalous, node_calls, error_message);

  for i in 1..coalesce(cardinality(p_days), 0) loop
    first := coalesce(p_day_ends[i - 1], 0);
    ids := p_day_key[first + 1:p_day_ends[i]];
    insert into key_spend_days (key_id, day, spend, last_used_at)
    select t.id, p_days[i], 0, timestamptz 'epoch' from unnest(ids) as t(id)
    where (select true from key_spend_days d where d.key_id = t.id and d.day = p_days[i]) is null
    on conflict do nothing;
    with spent as (
      update key_spend_days d set spend = d.spend + p_day_spend[first + width_bucket(d.key_id, ids)] * micro,
        last_used_at = greatest(d.last_used_at,
          timestamptz 'epoch' + p_day_last_ms[first + width_bucket(d.key_id, ids)] * interval '1 millisecond')
      where d.key_id = any(ids) and d.day = p_days[i]
      returning d.key_id, d.day, d.spend)
    select string_agg(s.key_id || ' ' || s.day || ' ' || s.spend, ',') into days from spent s;
    key_days := concat_ws(',', key_days, days);
  end loop;

  if cardinality(array_remove(p_widget, null)) > 0 then
    insert into widget_days as d (widget_id, day, messages, errors, input_tokens, output_tokens, cost)
    select widget_id, (timestamptz 'epoch' + at_ms * interval '1 millisecond')::date, count(*) filter (where not failed),
      count(*) filter (where failed), sum(input), sum(output), sum(cost) * micro
    from unnest(p_widget, p_at_ms, p_failed, p_input, p_output, p_cost) as t(widget_id, at_ms, failed, input, output, cost)
    where widget_id is not null group by 1, 2 order by 1, 2
    on conflict (widget_id, day) do update set messages = d.messages + excluded.messages, errors = d.errors + excluded.errors,
      input_tokens = d.input_tokens + excluded.input_tokens, output_tokens = d.output_tokens + excluded.output_tokens,
      cost = d.cost + excluded.cost;
    select concat_ws(',', key_days, string_agg((
        select w.widget_id || ' ' || w.day || ' ' || w.messages from widget_days w
        where w.widget_id = t.widget_id and w.day = t.day), ',')) into key_days
    from (select distinct widget_id, (timestamptz 'epoch' + at_ms * interval '1 millisecond')::date as day
      from unnest(p_widget, p_at_ms) as t(widget_id, at_ms) where widget_id is not null) t;
  end if;

  for i in 1..coalesce(cardinality(p_hours_ms), 0) loop
    this_hour := timestamptz 'epoch' + p_hours_ms[i] * interval '1 millisecond';
    first := coalesce(p_hour_ends[i - 1], 0);
    ids := p_hour_account[first + 1:p_hour_ends[i]];
    insert into account_usage_hours (account_id, hour, events)
    select t.id, this_hour, 0 from unnest(ids) as t(id)
    where (select true from account_usage_hours h where h.account_id = t.id and h.hour = this_hour) is null
    on conflict do nothing;
    update account_usage_hours h set events = h.events + p_hour_events[first + width_bucket(h.account_id, ids)]
    where h.account_id = any(ids) and h.hour = this_hour;
    insert into rollup_dirty (hour) values (this_hour);
  end loop;

  if low or exists (select from alert_subscriptions where key_id = any(p_day_key) and active) then
    alerted := fire_alerts(array(select timestamptz 'epoch' + at_ms * interval '1 millisecond' from unnest(p_at_ms) as at_ms),
      array(select p_accounts[nth] from unnest(p_account) as nth), p_key, p_cost,
      array(select case when f then 'error' else 'success' end from unnest(p_failed) as f), p_most_mails, p_too_many);
  end if;
  if exists (select from key_guards where key_id = any(p_day_key)) then
    alerted := nullif(concat_ws(' ', alerted, act_guards(p_key, array(
        select to_char(timestamptz 'epoch' + at_ms * interval '1 millisecond', 'YYYY-MM') from unnest(p_at_ms) as at_ms),
      p_most_mails, p_too_many)), '');
  end if;
end $$`,
};
