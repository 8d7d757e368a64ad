import { Migration } from '@mikro-orm/migrations';

/** The model playground (docs/decisions/0125-the-model-playground.md). */
export class Migration20261128120000 extends Migration {
  override up(): void {
    this.addSql(sessions);
    this.addSql(runs);
    this.addSql(bounds);
  }
}

const sessions = `
create table playground_sessions (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  prompt_sealed text not null,
  system_prompt_sealed text,
  parameters jsonb not null,
  share_slug text constraint playground_sessions_share_slug_key unique,
  shared boolean not null default false check (not shared or share_slug is not null),
  created_at timestamptz(6) not null
);
create index playground_sessions_account on playground_sessions (account_id, created_at desc, id desc)`;

const runs = `
create table playground_runs (
  id uuid primary key,
  session_id uuid not null references playground_sessions (id) on delete cascade,
  position smallint not null check (position between 0 and 3),
  model_public_name text not null,
  served_model text,
  status text not null default 'pending'
    check (status in ('pending', 'running', 'success', 'error', 'cancelled')),
  response_sealed text,
  finish_reason text,
  error_code text,
  error_message text,
  latency_ms integer,
  ttft_ms integer,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  cost_usd numeric(24,12) not null default 0 check (cost_usd = 0),
  list_cost_usd numeric(24,12) not null default 0 check (list_cost_usd >= 0),
  alive_until timestamptz(6) not null,
  cancel_requested boolean not null default false,
  constraint playground_runs_place unique (session_id, position)
);
create index playground_runs_unfinished on playground_runs (alive_until) where status in ('pending', 'running')`;

const bounds = `
create table playground_days (
  account_id uuid not null references accounts (id),
  day date not null,
  runs integer not null check (runs >= 0),
  output_tokens bigint not null check (output_tokens >= 0),
  primary key (account_id, day)
);
create table playground_starts (
  session_id uuid primary key,
  account_id uuid not null references accounts (id),
  started_at timestamptz(6) not null,
  runs smallint not null
);
create index playground_starts_account on playground_starts (account_id, started_at)`;
