import type { SqlFunction } from './sql-function.js';

/** `charge_calls` for edges of the previous build, which send their calls as they are. The next release drops it. */
export const writeCalls: SqlFunction = {
  name: 'write_calls',
  sql: `
create or replace function write_calls(p_accounts uuid[], p_id uuid[], p_at_ms bigint[], p_account uuid[], p_key uuid[],
  p_widget uuid[], p_requested text[], p_served text[], p_endpoint text[], p_stream boolean[], p_input integer[],
  p_output integer[], p_price_in numeric[], p_price_out numeric[], p_cost numeric[], p_latency_ms integer[],
  p_ttft_ms integer[], p_status text[], p_error text[], p_http_status integer[], p_aborted boolean[],
  p_estimated boolean[], p_anomalous boolean[], p_prompt_version uuid[], p_deployment text[],
  p_node uuid[], p_node_calls integer[], p_moved_to text[], p_error_message text[], p_most_mails integer, p_too_many text,
  out inserted integer, out unknown text, out balances text, out key_days text, out alerted text,
  out strange_versions integer)
language plpgsql volatile set timezone = 'UTC' set enable_seqscan = off set lock_timeout = '300ms' as $$
declare
  left_out uuid[] := '{}';
  none uuid[] := '{}';
  done record;
  ids text;
begin
  -- Another process may send the same calls: under the lock, those that it has recorded are seen.
  perform from (select from accounts where id = any(p_accounts) order by id for no key update) as locked;
  for attempt in 1..3 loop
    with every as (
      select *, id = any(left_out) as is_old, (timestamptz 'epoch' + at_ms * interval '1 millisecond')::date as day
      from unnest(p_id, p_at_ms, p_account, p_key, p_widget, p_requested, p_served, p_endpoint, p_stream, p_input, p_output,
          p_price_in, p_price_out, p_cost, p_latency_ms, p_ttft_ms, p_status, p_error, p_http_status, p_aborted, p_estimated,
          p_anomalous, p_prompt_version, p_deployment, p_node, p_node_calls, p_moved_to, p_error_message)
        as t(id, at_ms, account_id, key_id, widget_id, requested, served, endpoint, stream, input, output, price_in, price_out,
          cost, latency_ms, ttft_ms, status, error, http_status, aborted, estimated, anomalous, version, deployment, node,
          node_calls, moved_to, error_message)
      where account_id <> all(none)
    ), e as (
      select *, row_number() over (order by account_id, at_ms, id) as nth,
        dense_rank() over (order by account_id) as account, dense_rank() over (order by (requested, served, moved_to, endpoint,
          price_in, price_out, deployment, node)) as route, at_ms - at_ms % 3600000 as hour_ms
      from every where not is_old
    ), a as (
      select array_agg(account_id order by account_id) as accounts, array_agg(total order by account_id) as totals,
        array_agg(charges order by account_id) as charges
      from (select account_id, coalesce(sum(cost), 0) as total, count(e.id) filter (where cost > 0)::integer as charges
        from (select distinct account_id from unnest(p_accounts) as account_id where account_id <> all(none)) known
          left join e using (account_id) group by 1) t
    ), r as (
      select array_agg(requested order by route) as requested, array_agg(served order by route) as served,
        array_agg(moved_to order by route) as moved_to, array_agg(endpoint order by route) as endpoint,
        array_agg(price_in order by route) as price_in, array_agg(price_out order by route) as price_out,
        array_agg(deployment order by route) as deployment, array_agg(node order by route) as node
      from (select distinct on (route) * from e order by route) t
    ), d as (
      select array_agg(key_id order by day, key_id) as keys, array_agg(spend order by day, key_id) as spend,
        array_agg(last_ms order by day, key_id) as last_ms
      from (select day, key_id, coalesce(sum(cost) filter (where not is_old), 0) as spend,
          coalesce(max(at_ms) filter (where not is_old), 0) as last_ms
        from every where key_id is not null group by 1, 2) t
    ), de as (
      select array_agg(day order by day) as days, array_agg(ends order by day) as ends
      from (select day, (sum(count(distinct key_id)) over (order by day))::integer as ends from every
        where key_id is not null group by day) t
    ), h as (
      select array_agg(account_id order by hour_ms, account_id) as accounts, array_agg(events order by hour_ms, account_id) as events
      from (select hour_ms, account_id, count(*)::integer as events from e group by 1, 2) t
    ), he as (
      select array_agg(hour_ms order by hour_ms) as hours, array_agg(ends order by hour_ms) as ends
      from (select hour_ms, (sum(count(distinct account_id)) over (order by hour_ms))::integer as ends from e group by hour_ms) t
    ), c as (
      select array_agg(id order by nth) as id, array_agg(at_ms order by nth) as at_ms,
        array_agg(array_position(a.accounts, account_id) order by nth) as account, array_agg(key_id order by nth) as key_id,
        array_agg(widget_id order by nth) as widget_id, array_agg(version order by nth) as version,
        array_agg(route::integer order by nth) as route, array_agg(stream order by nth) as stream,
        array_agg(input order by nth) as input, array_agg(output order by nth) as output, array_agg(cost order by nth) as cost,
        array_agg(later order by nth) as later, array_agg(behind order by nth) as behind,
        array_agg(latency_ms order by nth) as latency_ms, array_agg(ttft_ms order by nth) as ttft_ms,
        array_agg(status = 'error' order by nth) as failed, array_agg(error order by nth) as error,
        array_agg(http_status order by nth) as http_status, array_agg(aborted order by nth) as aborted,
        array_agg(estimated order by nth) as estimated, array_agg(anomalous order by nth) as anomalous,
        array_agg(node_calls order by nth) as node_calls, array_agg(error_message order by nth) as error_message
      from (select *, sum(cost) over w - cost as later,
          (count(*) filter (where cost > 0) over w - case when cost > 0 then 1 else 0 end)::integer as behind
        from e window w as (partition by account_id order by nth desc)) e cross join a
    )
    select w.*, coalesce(cardinality(c.id), 0) as calls into done
    from a, r, d, de, h, he, c, charge_calls(a.accounts, a.totals, a.charges, coalesce(r.requested, '{}'),
      coalesce(r.served, '{}'), coalesce(r.moved_to, '{}'), coalesce(r.endpoint, '{}'), coalesce(r.price_in, '{}'),
      coalesce(r.price_out, '{}'), coalesce(r.deployment, '{}'), coalesce(r.node, '{}'), coalesce(de.days, '{}'),
      coalesce(de.ends, '{}'), coalesce(d.keys, '{}'), coalesce(d.spend, '{}'), coalesce(d.last_ms, '{}'),
      coalesce(he.hours, '{}'), coalesce(he.ends, '{}'), coalesce(h.accounts, '{}'), coalesce(h.events, '{}'),
      coalesce(c.id, '{}'), coalesce(c.at_ms, '{}'), coalesce(c.account, '{}'), coalesce(c.key_id, '{}'),
      coalesce(c.widget_id, '{}'), coalesce(c.version, '{}'), coalesce(c.route, '{}'), coalesce(c.stream, '{}'),
      coalesce(c.input, '{}'), coalesce(c.output, '{}'), coalesce(c.cost, '{}'), coalesce(c.later, '{}'),
      coalesce(c.behind, '{}'), coalesce(c.latency_ms, '{}'), coalesce(c.ttft_ms, '{}'), coalesce(c.failed, '{}'),
      coalesce(c.error, '{}'), coalesce(c.http_status, '{}'), coalesce(c.aborted, '{}'), coalesce(c.estimated, '{}'),
      coalesce(c.anomalous, '{}'), coalesce(c.node_calls, '{}'), coalesce(c.error_message, '{}'), p_most_mails, p_too_many) w;
    unknown := coalesce(done.unknown, unknown);
    exit when done.recorded is null and done.unknown is null;
    left_out := left_out || string_to_array(done.recorded, ' ')::uuid[];
    none := none || string_to_array(done.unknown, ' ')::uuid[];
  end loop;
  if done.recorded is not null or done.unknown is not null then
    raise exception 'calls changed while they were charged' using errcode = 'serialization_failure';
  end if;
  inserted := done.calls;
  balances := done.balances;
  select nullif(concat_ws(',', done.key_days, string_agg(w.widget_id || ' ' || w.day || ' ' || w.messages, ',')), '')
  into key_days from widget_days w where (w.widget_id, w.day) in (
    select t.widget_id, (timestamptz 'epoch' + t.at_ms * interval '1 millisecond')::date
    from unnest(p_id, p_widget, p_at_ms) as t(id, widget_id, at_ms) where t.id = any(left_out));
  alerted := done.alerted;
  strange_versions := done.strange_versions;
end $$`,
};
