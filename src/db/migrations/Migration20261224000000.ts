import { Migration } from '@mikro-orm/migrations';
import { usageView } from '../usage-view.js';

/**
 * What a call leaves behind is one compact row: what calls have in common is stored once (`call_routes`), and the charge is on
 * the call's row. The ledger has an entry per account and about an hour instead of one per call
 * (docs/decisions/0206-a-call-is-one-row.md). Rows that exist stay where they are, readable through the view `usage_events`,
 * until they are too old to be kept.
 */
export class Migration20261224000000 extends Migration {
  override up(): void {
    // Flushes and credits lock the account before they write. Another order here would deadlock with them.
    this.addSql('lock table accounts in access exclusive mode');
    this.addSql(routes);
    this.addSql(calls);
    this.addSql('create table calls_default partition of calls default');
    this.addSql('create unique index calls_default_id on calls_default (id)');
    this.addSql('create index calls_account on calls (account_id, created_at)');
    this.addSql('create index calls_time on calls using brin (created_at) with (autosummarize = on)');
    this.addSql(`
      create index calls_prompt_version on calls (account_id, prompt_version_id, created_at)
      where prompt_version_id is not null`);
    this.addSql(former);
    this.addSql(setFormerAside);
    this.addSql('drop function if exists commit_calls');
    this.addSql('alter table ledger_entries drop constraint ledger_entries_check');
    this.addSql(denseSequences);
  }
}

const routes = `
create table call_routes (
  id integer generated always as identity primary key,
  requested_model text not null,
  served_model text not null,
  moved_to text,
  endpoint text not null check (endpoint in ('chat', 'embeddings')),
  price_in numeric(24,12) not null,
  price_out numeric(24,12) not null,
  deployment text,
  node_id uuid,
  constraint call_routes_key unique nulls not distinct
    (served_model, requested_model, deployment, node_id, moved_to, endpoint, price_in, price_out)
)`;

// Wide columns first, so that no row has gaps. Amounts have twelve decimals without a declared scale, which would be checked
// for each value.
const calls = `
create table calls (
  created_at timestamptz(6) not null,
  seq bigint,
  id uuid not null,
  account_id uuid not null,
  key_id uuid,
  route_id integer not null,
  input_tokens integer not null check (input_tokens >= 0),
  output_tokens integer not null check (output_tokens >= 0),
  latency_ms integer not null check (latency_ms >= 0),
  ttft_ms integer,
  http_status smallint not null,
  node_calls smallint,
  stream boolean not null,
  failed boolean not null,
  client_aborted boolean not null,
  estimated boolean not null,
  anomalous boolean not null,
  cost numeric not null check (cost >= 0),
  balance_after numeric,
  widget_id uuid,
  prompt_version_id uuid,
  error_code text,
  error_message text,
  check ((cost > 0) = (seq is not null)),
  check ((cost > 0) = (balance_after is not null))
) partition by range (created_at)`;

const former = `
create table former_usage (
  only_row boolean primary key default true check (only_row),
  until timestamptz(6) not null
)`;

const setFormerAside = `
do $$
begin
  if exists (select from usage_events) then
    alter table usage_events rename to former_usage_events;
    alter table usage_events_default rename to former_usage_events_default;
    -- A day more for edges whose clocks are ahead: a call that they wrote before is looked up here.
    insert into former_usage (until) values (clock_timestamp() + interval '1 day');
    execute $view$ ${usageView(true)} $view$;
  else
    drop table usage_events;
    execute $view$ ${usageView(false)} $view$;
  end if;
end $$`;

/** Up to this place, an account's ledger has an entry for each charge. */
const denseSequences = `
alter table accounts add column dense_seq bigint not null default 0;
update accounts set dense_seq = ledger_seq where ledger_seq > 0`;
