import type { Pool } from 'pg';
import { until } from './until.js';

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
  await pool.query(
    `insert into usage_events (id, created_at, account_id, requested_model, served_model, endpoint, stream,
       input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status)
     select gen_random_uuid(), $1, gen_random_uuid(), 'gateway/fast', 'gateway/fast', 'chat', false, 1, 1, 0, 0,
       0, 1, 'success', 200 from generate_series(1, 40000)`,
    [createdAt],
  );
  const vacuumed = 'select from pg_stat_progress_vacuum where relid = $1::regclass';
  await until(async () => (await pool.query(vacuumed, [table])).rowCount, { what: 'the autovacuum' });
}
