import type { Filling } from './fill.js';

const NODES_PER_MODEL = 4;

/** GPU nodes with a day of heartbeats and a benchmark a day, and `bench_nodes`: the nodes of each model. */
export async function fillNodes(filling: Filling): Promise<void> {
  if (filling.whose === 'all') await registerNodes(filling);
  await filling.client.query(
    `create unlogged table bench_nodes as
     select public_name as model, array_agg(g.id) as ids
     from models m join gpu_nodes g on g.endpoint_key like '10.0.' || position || '.%' group by 1`,
  );
}

async function registerNodes({ client, from, now }: Filling): Promise<void> {
  await client.query(
    `insert into gpu_nodes (id, name, provider, region, gpu_type, hourly_cost_usd, endpoint_url, endpoint_key,
       health_status, readings, last_heartbeat_at, created_at, updated_at)
     select uuidv7($1::timestamptz - clock_timestamp()), 'node-' || position * $3::int + n, 'Hoster', 'eu-' || n, 'L40S',
       1.2, 'http://10.0.' || position || '.' || n || ':8000', '10.0.' || position || '.' || n || ':8000', 'healthy',
       jsonb_build_object('gpu_utilization', jsonb_build_object('value', 60, 'at',
         floor(extract(epoch from $2::timestamptz) * 1000))), $2, $1, $1
     from models cross join generate_series(1, $3::int) n`,
    [from, now, NODES_PER_MODEL],
  );
  await client.query(
    `insert into gpu_heartbeats (node_id, received_at, gpu_utilization, memory_used_gb, requests_running,
       requests_waiting, kv_cache_usage, loaded_models)
     select id, $1::timestamptz - n * interval '1 minute', 100 * random(), 40 * random(), n % 16, n % 3, 0.5, '{}'
     from gpu_nodes cross join generate_series(0, 1439) n`,
    [now],
  );
  await client.query(
    `insert into gpu_benchmarks (id, node_id, model, total_requests, concurrency, total_tokens, duration_ms,
       tokens_per_second, p50_latency_ms, p95_latency_ms, errors, ttft_p50_ms, ttft_p95_ms, created_at)
     select uuidv7(at - clock_timestamp()), node, model, 200, 8, 40000, 30000, 1300 + 50 * random(), 900, 1900, 0, 120, 300, at
     from (select public_name as model, g.id as node
         from models m join gpu_nodes g on g.endpoint_key like '10.0.' || position || '.%') nodes
       cross join generate_series($1::timestamptz, $2::timestamptz, interval '1 day') as at`,
    [from, now],
  );
}
