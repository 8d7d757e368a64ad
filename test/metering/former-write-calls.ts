/** `write_calls` of version 1.1, which edges of that version call (`former-batch.ts`). */
export const FORMER_WRITE_CALLS = `
create or replace function write_calls(p_accounts uuid[], p_id uuid[], p_at_ms bigint[], p_account uuid[], p_key uuid[],
  p_widget uuid[], p_requested text[], p_served text[], p_endpoint text[], p_stream boolean[], p_input integer[],
  p_output integer[], p_price_in numeric[], p_price_out numeric[], p_cost numeric[], p_latency_ms integer[],
  p_ttft_ms integer[], p_status text[], p_error text[], p_http_status integer[], p_aborted boolean[],
  p_estimated boolean[], p_anomalous boolean[], p_prompt_version uuid[], p_deployment text[],
  p_node uuid[], p_node_calls integer[], p_moved_to text[], p_error_message text[], p_most_mails integer, p_too_many text,
  out inserted integer, out unknown text, out balances text, out key_days text, out alerted text,
  out strange_versions integer)
language plpgsql volatile
  set timezone = 'UTC' set enable_seqscan = off set plan_cache_mode = force_generic_plan set lock_timeout = '300ms' as $$
declare
  known uuid[];
  complete boolean;
  charged_accounts integer;
  watched boolean;
  guarded boolean;
  versions uuid[] := p_prompt_version;
begin
  select array_agg(id) into known
  from (select id from accounts where id = any(p_accounts) order by id for no key update) as locked;
  complete := coalesce(cardinality(known), 0) = cardinality(p_accounts);
  if not complete then
    select string_agg(id::text, ' ') into unknown from unnest(p_accounts) as id where id <> all(coalesce(known, '{}'));
  end if;

  strange_versions := cardinality(array_remove(p_prompt_version, null));
  if strange_versions > 0 then
    select array_agg(case when named is not null then (
        select v.id from prompt_versions v where v.id = named
          and (select p.account_id from prompts p where p.id = v.prompt_id) = account_id) end order by nth)
    into versions from unnest(p_prompt_version, p_account) with ordinality as t(named, account_id, nth);
    strange_versions := strange_versions - cardinality(array_remove(versions, null));
  end if;

  with e as (
    select id, timestamptz 'epoch' + at_ms * interval '1 millisecond' as created_at, account_id, key_id, widget_id,
      requested_model, served_model, endpoint, stream, input_tokens, output_tokens, price_in * 0.000001 as price_in,
      price_out * 0.000001 as price_out, cost * 0.000000000001 as cost, latency_ms, ttft_ms, status, error_code,
      http_status, client_aborted, estimated, anomalous, prompt_version_id, deployment, node_id, node_calls, moved_to,
      error_message
    from unnest(p_id, p_at_ms, p_account, p_key, p_widget, p_requested, p_served, p_endpoint, p_stream, p_input,
      p_output, p_price_in, p_price_out, p_cost, p_latency_ms, p_ttft_ms, p_status, p_error, p_http_status, p_aborted,
      p_estimated, p_anomalous, versions, p_deployment, p_node, p_node_calls, p_moved_to, p_error_message)
      as t(id, at_ms, account_id, key_id, widget_id, requested_model, served_model, endpoint, stream, input_tokens,
        output_tokens, price_in, price_out, cost, latency_ms, ttft_ms, status, error_code, http_status, client_aborted,
        estimated, anomalous, prompt_version_id, deployment, node_id, node_calls, moved_to, error_message)
    where complete or account_id = any(known)
  ), inserted_events as (
    insert into usage_events (id, created_at, account_id, key_id, widget_id, requested_model, served_model, endpoint,
      stream, input_tokens, output_tokens, price_in, price_out, cost, latency_ms, ttft_ms, status, error_code,
      http_status, client_aborted, estimated, anomalous, prompt_version_id, deployment, node_id, node_calls, moved_to,
      error_message)
    select id, created_at, account_id, key_id, widget_id, requested_model, served_model, endpoint, stream,
      input_tokens, output_tokens, price_in, price_out, cost, latency_ms, ttft_ms, status, error_code, http_status,
      client_aborted, estimated, anomalous, prompt_version_id, deployment, node_id, node_calls, moved_to,
      error_message
    from e
    where (select true from ledger_entries l where l.id = e.id) is null
      and not (e.error_code is not distinct from 'gateway_terminated' and exists (
        select from usage_events u where u.account_id = e.account_id and u.id = e.id
          and u.created_at >= e.created_at and u.created_at < e.created_at + interval '1 day'))
    on conflict (created_at, id) do nothing
    returning id, created_at, account_id, key_id, widget_id, status, input_tokens, output_tokens, cost, price_in, price_out
  ), charged as (
    select i.*, row_number() over w as nth, sum(i.cost) over w as upto
    from inserted_events i where i.cost > 0
    window w as (partition by i.account_id order by i.created_at, i.id)
  ), entries as (
    insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, event_id, price_in, price_out, created_at)
    select c.id, c.account_id, a.ledger_seq + c.nth, 'usage', -c.cost, a.balance - c.upto, c.id, c.price_in,
      c.price_out, c.created_at
    from charged c join accounts a on a.id = c.account_id
  ), accounts_now as (
    update accounts a set balance = a.balance - t.total, ledger_seq = a.ledger_seq + t.entries
    from (select account_id, count(*) as entries, sum(cost) as total from charged group by account_id) t
    where a.id = t.account_id
    returning a.id, a.balance, a.ledger_seq, a.low_balance_armed and a.balance < a.low_balance_threshold_usd as low
  ), spent as (
    select key_id, created_at::date as day, sum(cost) as spend, max(created_at) as last_used_at
    from inserted_events where key_id is not null group by 1, 2
  ), days as (
    update key_spend_days d set spend = d.spend + s.spend, last_used_at = greatest(d.last_used_at, s.last_used_at)
    from spent s where d.key_id = s.key_id and d.day = s.day
    returning d.key_id, d.day, d.spend
  ), new_days as (
    insert into key_spend_days as d (key_id, day, spend, last_used_at)
    select key_id, day, spend, last_used_at from spent s
    where (select count(*) from days) < (select count(*) from spent)
      and not exists (select from days d where d.key_id = s.key_id and d.day = s.day)
    on conflict (key_id, day) do update set spend = d.spend + excluded.spend,
      last_used_at = greatest(d.last_used_at, excluded.last_used_at)
    returning key_id, day, spend
  ), widgets_now as (
    insert into widget_days as d (widget_id, day, messages, errors, input_tokens, output_tokens, cost)
    select widget_id, created_at::date, count(*) filter (where status = 'success'), count(*) filter (where status = 'error'),
      sum(input_tokens), sum(output_tokens), sum(cost)
    from inserted_events where widget_id is not null group by 1, 2
    on conflict (widget_id, day) do update set messages = d.messages + excluded.messages, errors = d.errors + excluded.errors,
      input_tokens = d.input_tokens + excluded.input_tokens, output_tokens = d.output_tokens + excluded.output_tokens,
      cost = d.cost + excluded.cost
    returning widget_id, day, messages
  ), seen as (
    select account_id, date_trunc('hour', created_at) as hour, count(*) as events
    from inserted_events group by 1, 2
  ), hours as (
    update account_usage_hours h set events = h.events + s.events
    from seen s where h.account_id = s.account_id and h.hour = s.hour
    returning h.account_id, h.hour
  ), new_hours as (
    insert into account_usage_hours as h (account_id, hour, events)
    select account_id, hour, events from seen s
    where (select count(*) from hours) < (select count(*) from seen)
      and not exists (select from hours h where h.account_id = s.account_id and h.hour = s.hour)
    on conflict (account_id, hour) do update set events = h.events + excluded.events
  ), dirty as (
    insert into rollup_dirty (hour) select distinct hour from seen
  )
  select (select count(*) from inserted_events), (select count(*) from accounts_now),
    (select string_agg(id || ' ' || balance || ' ' || ledger_seq, ',') from accounts_now),
    (select string_agg(key_id || ' ' || day || ' ' || spend, ',')
      from (select * from days union all select * from new_days
        union all select widget_id, day, messages from widgets_now) as days_now),
    exists (select from accounts_now where low)
      or exists (select from alert_subscriptions where key_id = any(p_key) and active),
    exists (select from key_guards where key_id = any(p_key))
  into inserted, charged_accounts, balances, key_days, watched, guarded;

  if charged_accounts < cardinality(known) then
    select string_agg(id || ' ' || balance || ' ' || ledger_seq, ',') into balances
    from accounts where id = any(known);
  end if;
  if inserted < cardinality(p_id) then
    select string_agg(s.key_id || ' ' || s.day || ' ' || s.spend, ',') into key_days
    from (select distinct key_id, (timestamptz 'epoch' + at_ms * interval '1 millisecond')::date as day
        from unnest(p_key || p_widget, p_at_ms || p_at_ms) as t(key_id, at_ms) where key_id is not null) touched
      cross join lateral (
        select key_id, day, spend from key_spend_days d where d.key_id = touched.key_id and d.day = touched.day
        union all
        select widget_id, day, messages from widget_days w where w.widget_id = touched.key_id and w.day = touched.day
        offset 0) s;
  end if;
  if inserted > 0 and watched then
    alerted := fire_alerts(array(select timestamptz 'epoch' + at_ms * interval '1 millisecond' from unnest(p_at_ms) as at_ms),
      p_account, p_key, p_cost, p_status, p_most_mails, p_too_many);
  end if;
  if inserted > 0 and guarded then
    alerted := nullif(concat_ws(' ', alerted, act_guards(p_key, array(
        select to_char(timestamptz 'epoch' + at_ms * interval '1 millisecond', 'YYYY-MM') from unnest(p_at_ms) as at_ms),
      p_most_mails, p_too_many)), '');
  end if;
end $$`;
