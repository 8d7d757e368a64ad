import { Migration } from '@mikro-orm/migrations';

/** The ground floor: accounts, plans, models, keys, ledger, usage, alerts, and the proxy's virtual keys. */
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
    this.addSql(alerts);
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
  low_balance_threshold_usd ${money} check (low_balance_threshold_usd >= 0),
  low_balance_armed boolean not null default false,
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
  monthly_limit_changed_at timestamptz(6),
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
create index rollup_dirty_hour on rollup_dirty (hour);
create table usage_latency_days (
  day date not null,
  account_id uuid not null,
  key_id uuid,
  widget_id uuid,
  latency_buckets smallint[] not null,
  latency_counts bigint[] not null,
  unique nulls not distinct (day, account_id, key_id, widget_id)
);
create index usage_latency_days_account on usage_latency_days (account_id, day);
create index usage_latency_days_key on usage_latency_days (key_id, day) where key_id is not null;
create table rollup_dirty_days (day date primary key)`;

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

/**
 * Firings and events point to no other table: the flush writes them, and must not fail, nor wait, because a key or a
 * subscription goes at that moment. What they need to be delivered and audited they carry with them.
 * `alert_events` is the outbox and the record at once. `lease_token` grows with every taking: who holds an older one
 * may not write any more. `created_in` is the transaction that wrote the event, for readers who are told of commits.
 */
const alerts = `
create table alert_subscriptions (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  key_id uuid not null references api_keys (id) on delete cascade,
  kind text not null check (kind in ('email', 'webhook')),
  destination text not null,
  thresholds_pct smallint[] not null
    check (cardinality(thresholds_pct) between 1 and 5 and 1 <= all (thresholds_pct) and 100 >= all (thresholds_pct)),
  active boolean not null default true,
  signing_secret_sealed text,
  disabled_reason text,
  created_at timestamptz(6) not null,
  updated_at timestamptz(6) not null,
  check ((kind = 'webhook') = (signing_secret_sealed is not null))
);
create index alert_subscriptions_key on alert_subscriptions (key_id);
create table threshold_firings (
  key_id uuid not null,
  month text not null,
  threshold_pct smallint not null,
  fired_at timestamptz(6) not null,
  primary key (key_id, month, threshold_pct)
);
create table alert_events (
  id uuid primary key,
  account_id uuid not null,
  key_id uuid,
  subscription_id uuid,
  purpose text not null check (purpose in ('threshold', 'test', 'low_balance')),
  kind text not null check (kind in ('email', 'webhook')),
  destination text not null,
  key_name text,
  key_prefix text,
  threshold_pct smallint,
  billing_month text,
  spend ${money},
  monthly_limit ${money},
  balance ${money},
  fired_at timestamptz(6) not null,
  created_in xid8 not null default pg_current_xact_id(),
  delivery_status text not null default 'pending' check (delivery_status in ('pending', 'sent', 'failed', 'degraded')),
  attempts smallint not null default 0,
  redeliveries integer not null default 0,
  response_code integer,
  error_message text,
  pending_since timestamptz(6) not null,
  next_attempt_at timestamptz(6),
  lease_token bigint not null default 0,
  leased_until timestamptz(6),
  finished_at timestamptz(6),
  check ((purpose = 'low_balance') = (key_id is null)),
  check ((purpose = 'low_balance') = (subscription_id is null)),
  check (purpose <> 'threshold'
    or (threshold_pct is not null and billing_month is not null and spend is not null and monthly_limit is not null)),
  check ((delivery_status = 'pending') = (next_attempt_at is not null))
);
create unique index alert_events_once on alert_events (subscription_id, key_id, billing_month, threshold_pct)
  where purpose = 'threshold';
create index alert_events_pending on alert_events (next_attempt_at) where delivery_status = 'pending';
create index alert_events_asked on alert_events (account_id, pending_since) where purpose = 'test' or redeliveries > 0;
create index alert_events_key on alert_events (key_id, fired_at desc, id desc);
create index alert_events_account on alert_events (account_id, fired_at desc, id desc)`;
