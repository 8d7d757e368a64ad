import type { SqlFunction } from './sql-function.js';

/**
 * Returns the ids of the routes of calls, in order, and creates those that are missing. Prices are in 1e-12 dollars per token.
 */
export const callRouteIds: SqlFunction = {
  name: 'call_route_ids',
  sql: `
create or replace function call_route_ids(p_requested text[], p_served text[], p_moved_to text[], p_endpoint text[],
  p_price_in numeric[], p_price_out numeric[], p_deployment text[], p_node uuid[]) returns integer[]
language plpgsql volatile as $$
declare
  ids integer[];
begin
  for attempt in 1..2 loop
    select array_agg((select c.id from call_routes c
        where c.served_model = r.served and c.requested_model = r.requested and c.deployment is not distinct from r.deployment
          and c.node_id is not distinct from r.node and c.moved_to is not distinct from r.moved_to and c.endpoint = r.endpoint
          and c.price_in = r.price_in * 0.000001 and c.price_out = r.price_out * 0.000001) order by nth)
    into ids
    from unnest(p_requested, p_served, p_moved_to, p_endpoint, p_price_in, p_price_out, p_deployment, p_node)
      with ordinality as r(requested, served, moved_to, endpoint, price_in, price_out, deployment, node, nth);
    exit when array_position(ids, null) is null;
    insert into call_routes (requested_model, served_model, moved_to, endpoint, price_in, price_out, deployment, node_id)
    select requested, served, moved_to, endpoint, price_in * 0.000001, price_out * 0.000001, deployment, node
    from unnest(p_requested, p_served, p_moved_to, p_endpoint, p_price_in, p_price_out, p_deployment, p_node, ids)
      as r(requested, served, moved_to, endpoint, price_in, price_out, deployment, node, id)
    where id is null order by 1, 2, 3, 4, 5, 6, 7, 8
    on conflict do nothing;
  end loop;
  return ids;
end $$`,
};
