import type { Pool } from 'pg';
import { until } from './until.js';

const CALLS = `with route as materialized (select (call_route_ids('{gateway/fast}', '{gateway/fast}', '{null}', '{chat}', '{0}', '{0}', '{null}',
    '{null}'))[1] as id)
  insert into calls (created_at, id, account_id, route_id, input_tokens, output_tokens, latency_ms, http_status, stream, failed,
    client_aborted, estimated, anomalous, cost)
  select $1, gen_random_uuid(), gen_random_uuid(), route.id, 1, 1, 1, 200, false, false, false, false, false, 0 from route, generate_series(1, 40000)`;
/** Of a schema before version 1.2. */
const FORMER_CALLS = `insert into usage_events (id, created_at, account_id, requested_model, served_model, endpoint, stream,
    input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status)
  select gen_random_uuid(), $1, gen_random_uuid(), 'gateway/fast', 'gateway/fast', 'chat', false, 1, 1, 0, 0,
    0, 1, 'success', 200 from generate_series(1, 40000)`;

/**
 * Fills a partition of the usage events and returns once PostgreSQL vacuums it by itself, which takes minutes. Not on the shared
 * server, which has no autovacuum.
 */
export async function underAutovacuum(
  pool: Pool,
  { table, createdAt }: { table: string; createdAt: Date },
): Promise<void> {
  await pool.query(`alter system set autovacuum_naptime = '1s'`);
  await pool.query('select pg_reload_conf()');
  // A tenth of a second per page.
  await pool.query(`alter table ${table} set (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1,
    autovacuum_vacuum_insert_threshold = 1, autovacuum_vacuum_insert_scale_factor = 0)`);
  await pool.query(table.startsWith('calls') ? CALLS : FORMER_CALLS, [createdAt]);
  const vacuumed = 'select from pg_stat_progress_vacuum where relid = $1::regclass';
  await until(async () => (await pool.query(vacuumed, [table])).rowCount, { what: 'the autovacuum' });
}
