import type { SqlFunction } from './sql-function.js';

/** `write_calls` for the previous build, which sends no error messages. The next release drops it. */
export const commitCalls: SqlFunction = {
  name: 'commit_calls',
  sql: `
create or replace function commit_calls(p_accounts uuid[], p_id uuid[], p_at_ms bigint[], p_account uuid[], p_key uuid[],
  p_widget uuid[], p_requested text[], p_served text[], p_endpoint text[], p_stream boolean[], p_input integer[],
  p_output integer[], p_price_in numeric[], p_price_out numeric[], p_cost numeric[], p_latency_ms integer[],
  p_ttft_ms integer[], p_status text[], p_error text[], p_http_status integer[], p_aborted boolean[],
  p_estimated boolean[], p_anomalous boolean[], p_prompt_version uuid[], p_deployment text[],
  p_node uuid[], p_node_calls integer[], p_moved_to text[], p_most_mails integer, p_too_many text,
  out inserted integer, out unknown text, out balances text, out key_days text, out alerted text,
  out strange_versions integer)
language plpgsql volatile set timezone = 'UTC' set enable_seqscan = off set plan_cache_mode = force_generic_plan
  set lock_timeout = '300ms' as $$
begin
  select w.inserted, w.unknown, w.balances, w.key_days, w.alerted, w.strange_versions
  into inserted, unknown, balances, key_days, alerted, strange_versions
  from write_calls(p_accounts, p_id, p_at_ms, p_account, p_key, p_widget, p_requested, p_served, p_endpoint, p_stream,
    p_input, p_output, p_price_in, p_price_out, p_cost, p_latency_ms, p_ttft_ms, p_status, p_error, p_http_status,
    p_aborted, p_estimated, p_anomalous, p_prompt_version, p_deployment, p_node, p_node_calls, p_moved_to,
    array_fill(null::text, array[cardinality(p_id)]), p_most_mails, p_too_many) w;
end $$`,
};
