import type { Pool } from 'pg';

/** Lets a test insert rows into the view `usage_events`, in the columns of the calls that it needs. */
export async function makeUsageInsertable(pool: Pick<Pool, 'query'>): Promise<void> {
  await pool.query(`
    create or replace function insert_usage() returns trigger language plpgsql as $$
    declare
      route integer;
    begin
      select id into route from call_routes
      where served_model = new.served_model and requested_model = new.requested_model
        and deployment is not distinct from new.deployment and node_id is not distinct from new.node_id
        and moved_to is not distinct from new.moved_to and endpoint = new.endpoint and price_in = new.price_in
        and price_out = new.price_out;
      route := coalesce(route, (call_route_ids(array[new.requested_model], array[new.served_model], array[new.moved_to],
        array[new.endpoint], array[new.price_in * 1000000], array[new.price_out * 1000000], array[new.deployment],
        array[new.node_id]))[1]);
      insert into calls (created_at, id, account_id, key_id, seq, route_id, input_tokens, output_tokens, latency_ms, ttft_ms,
        http_status, node_calls, stream, failed, client_aborted, estimated, anomalous, cost, balance_after, widget_id,
        prompt_version_id, error_code, error_message)
      values (new.created_at, new.id, new.account_id, new.key_id,
        case when new.cost > 0 then coalesce(new.seq, 1) end, route,
        new.input_tokens, new.output_tokens, new.latency_ms, new.ttft_ms, new.http_status, new.node_calls,
        coalesce(new.stream, false), new.status = 'error', coalesce(new.client_aborted, false), coalesce(new.estimated, false),
        coalesce(new.anomalous, false), new.cost, case when new.cost > 0 then coalesce(new.balance_after, 0) end,
        new.widget_id, new.prompt_version_id, new.error_code, new.error_message);
      return new;
    end $$;
    create or replace trigger insert_usage instead of insert on usage_events for each row execute function insert_usage()`);
}
