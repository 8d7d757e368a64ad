const ROUTE = (column: string): string =>
  `(select r.${column} from call_routes r where r.id = c.route_id) as ${column}`;

/** Calls in the columns of `usage_events`. A route is looked up only for the columns that a query asks for. */
const CALLS = `
  select c.id, c.created_at, c.account_id, c.key_id, c.widget_id, ${ROUTE('requested_model')}, ${ROUTE('served_model')},
    ${ROUTE('endpoint')}, c.stream, c.input_tokens, c.output_tokens, ${ROUTE('price_in')}, ${ROUTE('price_out')}, c.cost,
    c.latency_ms, c.ttft_ms, case when c.failed then 'error' else 'success' end as status, c.error_code,
    c.http_status::integer as http_status, c.client_aborted, c.estimated, c.anomalous, c.prompt_version_id,
    ${ROUTE('deployment')}, ${ROUTE('node_id')}, c.node_calls::integer as node_calls, ${ROUTE('moved_to')}, c.error_message,
    c.seq, c.balance_after, c.xmin as xid
  from calls c`;

/** Calls before `Migration20261224000000`. Their balances are in their ledger entries. */
const FORMER = `
  select u.id, u.created_at, u.account_id, u.key_id, u.widget_id, u.requested_model, u.served_model, u.endpoint, u.stream,
    u.input_tokens, u.output_tokens, u.price_in, u.price_out, u.cost, u.latency_ms, u.ttft_ms, u.status, u.error_code,
    u.http_status, u.client_aborted, u.estimated, u.anomalous, u.prompt_version_id, u.deployment, u.node_id, u.node_calls,
    u.moved_to, u.error_message, null::bigint, null::numeric, u.xmin
  from former_usage_events u`;

/** Creates the view `usage_events`: all calls, with the tables before `Migration20261224000000` as long as they exist. */
export const usageView = (withFormer: boolean): string =>
  `create or replace view usage_events as ${CALLS} ${withFormer ? `union all ${FORMER}` : ''}`;
