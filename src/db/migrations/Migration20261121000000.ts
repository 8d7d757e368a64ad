import { Migration } from '@mikro-orm/migrations';

/** The ground floor: accounts, plans, models, keys, ledger, usage, and the proxy's virtual keys. */
export class Migration20261121000000 extends Migration {
  override up(): void {
    this.addSql(plans);
    this.addSql(models);
    this.addSql(accounts);
    this.addSql(sessions);
    this.addSql(apiKeys);
    this.addSql(ledger);
    this.addSql(usage);
    this.addSql(spend);
    this.addSql(rollups);
    this.addSql(virtualKeys);
    this.addSql(sealedSecrets);
  }
}

const money = 'numeric(24,12)';

const plans = `
create table plans (
  id text primary key,
  monthly_price_usd ${money} not null check (monthly_price_usd >= 0),
  included_credits_usd ${money} not null check (included_credits_usd >= 0),
  allowed_models text[] not null,
  requests_per_minute integer not null check (requests_per_minute > 0),
  position integer not null
)`;

// A price has at most six decimals, so that tokens × price is a whole number of 1e-12 dollars.
const models = `
create table models (
  public_name text primary key,
  upstream_model text not null,
  family text not null,
  kind text not null check (kind in ('chat', 'embedding')),
  context_window integer not null check (context_window > 0),
  input_price_per_million_usd ${money} not null
    check (input_price_per_million_usd >= 0 and input_price_per_million_usd = round(input_price_per_million_usd, 6)),
  output_price_per_million_usd ${money} not null
    check (output_price_per_million_usd >= 0 and output_price_per_million_usd = round(output_price_per_million_usd, 6)),
  is_featured boolean not null default false,
  position integer not null
)`;

const accounts = `
-- Tables that every flush updates leave room in their pages, so that no index changes with a new row version.
create table accounts (
  id uuid primary key,
  email text,
  email_key text unique,
  name text not null,
  password_hash text,
  role text not null default 'user' check (role in ('user', 'admin')),
  status text not null default 'active' check (status in ('active', 'disabled')),
  plan_id text not null default 'free' references plans (id),
  balance ${money} not null default 0,
  ledger_seq bigint not null default 0,
  token_version integer not null default 0,
  surviving_session_id uuid,
  data_key_sealed text,
  virtual_key_sealed text,
  signup_network_hash text,
  created_at timestamptz(6) not null,
  deleted_at timestamptz(6)
) with (fillfactor = 80);
create index accounts_signup_network on accounts (signup_network_hash, created_at) where signup_network_hash is not null;
create index accounts_created_at on accounts (created_at desc, id desc);
create table starter_credits (
  mail_hash text primary key,
  account_id uuid not null references accounts (id),
  created_at timestamptz(6) not null
)`;

const sessions = `
create table ended_sessions (
  session_id uuid primary key,
  expires_at timestamptz(6) not null
);
create table login_failures (
  id uuid primary key,
  mail_hash text not null,
  network_hash text not null,
  created_at timestamptz(6) not null
);
create index login_failures_mail on login_failures (mail_hash, created_at);
create index login_failures_created_at on login_failures (created_at)`;

const apiKeys = `
create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  name text not null,
  key_prefix text not null,
  last_four text not null,
  key_hash bytea not null unique,
  status text not null default 'active' check (status in ('active', 'disabled')),
  monthly_limit_usd ${money} check (monthly_limit_usd >= 0),
  daily_limit_usd ${money} check (daily_limit_usd >= 0),
  virtual_key_sealed text,
  last_used_at timestamptz(6),
  created_at timestamptz(6) not null
) with (fillfactor = 80);
create index api_keys_account on api_keys (account_id, created_at desc, id desc)`;

const ledger = `
create table ledger_entries (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  seq bigint not null,
  kind text not null check (kind in ('starter', 'topup', 'grant', 'usage', 'adjustment')),
  amount ${money} not null,
  balance_after ${money} not null,
  event_id uuid,
  idempotency_key text,
  description text,
  price_in ${money},
  price_out ${money},
  created_at timestamptz(6) not null,
  unique (account_id, seq),
  check ((kind = 'usage') = (event_id is not null))
);
create unique index ledger_entries_event on ledger_entries (kind, event_id) where event_id is not null;
create unique index ledger_entries_idempotency on ledger_entries (account_id, idempotency_key) where idempotency_key is not null;
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is immutable: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;
create trigger ledger_entries_immutable before update or delete on ledger_entries
  for each row execute function refuse_change();
create trigger ledger_entries_no_truncate before truncate on ledger_entries
  for each statement execute function refuse_change()`;

const usage = `
create table usage_events (
  id uuid not null,
  created_at timestamptz(6) not null,
  account_id uuid not null,
  key_id uuid,
  widget_id uuid,
  requested_model text not null,
  served_model text not null,
  endpoint text not null check (endpoint in ('chat', 'embeddings')),
  stream boolean not null,
  input_tokens integer not null check (input_tokens >= 0),
  output_tokens integer not null check (output_tokens >= 0),
  price_in ${money} not null,
  price_out ${money} not null,
  cost ${money} not null check (cost >= 0),
  latency_ms integer not null check (latency_ms >= 0),
  ttft_ms integer,
  status text not null check (status in ('success', 'error')),
  error_code text,
  http_status integer not null,
  client_aborted boolean not null default false,
  estimated boolean not null default false,
  anomalous boolean not null default false,
  primary key (created_at, id)
) partition by range (created_at);
create table usage_events_default partition of usage_events default;
create index usage_events_account on usage_events (account_id, created_at desc, id desc);
create table account_usage_hours (
  account_id uuid not null,
  hour timestamptz(6) not null,
  events integer not null,
  primary key (account_id, hour)
) with (fillfactor = 80)`;

const spend = `
create table key_spend_days (
  key_id uuid not null,
  day date not null,
  spend ${money} not null,
  primary key (key_id, day)
) with (fillfactor = 80);
create table key_spend_months (
  key_id uuid not null,
  month text not null,
  spend ${money} not null,
  primary key (key_id, month)
) with (fillfactor = 80)`;

// Hours in `rollup_dirty` are read from the events until they are rolled up (docs/decisions/0070-roll-ups.md).
const rollups = `
create table usage_rollups (
  hour timestamptz(6) not null,
  account_id uuid not null,
  key_id uuid,
  widget_id uuid,
  model text not null,
  requests bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost numeric not null,
  latency_buckets smallint[] not null,
  latency_counts integer[] not null,
  unique nulls not distinct (hour, account_id, key_id, widget_id, model)
);
create index usage_rollups_account on usage_rollups (account_id, hour);
create index usage_rollups_key on usage_rollups (key_id, hour) where key_id is not null;
create table rollup_dirty (hour timestamptz(6) not null);
create index rollup_dirty_hour on rollup_dirty (hour)`;

const virtualKeys = `
create table virtual_keys (
  token_hash bytea primary key,
  user_id text,
  key_alias text,
  created_at timestamptz(6) not null
)`;

// Secrets of the product itself that outlive those of the environment.
const sealedSecrets = `
create table sealed_secrets (
  name text primary key,
  sealed text not null
)`;
