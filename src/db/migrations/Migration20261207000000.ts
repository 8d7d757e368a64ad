import { Migration } from '@mikro-orm/migrations';

/** GPU nodes with their heartbeats and benchmarks, what model proxies say of them, and what administrators did. */
export class Migration20261207000000 extends Migration {
  override up(): void {
    for (const statement of [nodes, heartbeats, benchmarks, proxyReports, sweeps, adminActions])
      this.addSql(statement);
  }
}

const nodes = `
create table gpu_nodes (
  id uuid primary key,
  name text not null,
  provider text not null,
  region text not null,
  gpu_type text not null,
  hourly_cost_usd numeric(24,12) not null check (hourly_cost_usd >= 0),
  endpoint_url text not null,
  endpoint_key text not null,
  status text not null default 'active' check (status in ('active', 'draining', 'offline')),
  health_status text not null default 'unhealthy' check (health_status in ('healthy', 'unhealthy')),
  kept_in_routing boolean not null default false,
  revision integer not null default 0,
  readings jsonb not null default '{}',
  last_heartbeat_at timestamptz(6),
  drained_at timestamptz(6),
  created_at timestamptz(6) not null,
  updated_at timestamptz(6) not null
);
create index gpu_nodes_created_at on gpu_nodes (created_at desc, id desc)`;

const heartbeats = `
create table gpu_heartbeats (
  node_id uuid not null references gpu_nodes (id) on delete cascade,
  received_at timestamptz(6) not null,
  gpu_utilization double precision,
  memory_used_gb double precision,
  requests_running integer,
  requests_waiting integer,
  kv_cache_usage double precision,
  loaded_models text[],
  primary key (node_id, received_at)
)`;

const benchmarks = `
create table gpu_benchmarks (
  id uuid primary key,
  node_id uuid not null,
  model text not null,
  total_requests integer not null,
  concurrency integer not null,
  total_tokens bigint not null,
  duration_ms double precision not null,
  tokens_per_second double precision not null,
  p50_latency_ms double precision not null,
  p95_latency_ms double precision not null,
  errors integer not null,
  ttft_p50_ms double precision,
  ttft_p95_ms double precision,
  itl_p50_ms double precision,
  itl_p95_ms double precision,
  tpot_p50_ms double precision,
  goodput double precision,
  slo text,
  sweep jsonb,
  created_at timestamptz(6) not null
);
create index gpu_benchmarks_latest on gpu_benchmarks (node_id, model, created_at desc)`;

const proxyReports = `
create table proxy_reports (
  proxy_id uuid primary key,
  reported_at timestamptz(6) not null,
  nodes jsonb not null
)`;

const sweeps = `
create table gpu_sweeps (
  only_row boolean primary key default true check (only_row),
  swept_at timestamptz(6) not null
)`;

const adminActions = `
create table admin_actions (
  id uuid primary key,
  actor_id uuid,
  source text not null check (source in ('session', 'command_line')),
  action text not null,
  subject_id text not null,
  before jsonb,
  after jsonb,
  reason text,
  created_at timestamptz(6) not null
);
create index admin_actions_created_at on admin_actions (created_at desc, id desc);
create index admin_actions_subject on admin_actions (subject_id, created_at desc, id desc);
create trigger admin_actions_immutable before update or delete on admin_actions
  for each row execute function refuse_change();
create trigger admin_actions_no_truncate before truncate on admin_actions
  for each statement execute function refuse_change()`;
