import { Migration } from '@mikro-orm/migrations';

/** Refused calls are counted, and a balance is measured against the last credit (docs/decisions/0117-refused-calls-are-counted.md). */
export class Migration20261128010000 extends Migration {
  override up(): void {
    this.addSql(refusedCalls);
    this.addSql(deletedKeys);
    this.addSql(lastCredit);
  }
}

/** Calls of one hour that the edge refused, by key, error code and model. No model: none was named, or none of ours. */
const refusedCalls = `
create table refused_call_hours (
  account_id uuid not null,
  hour timestamptz(6) not null,
  key_id uuid not null,
  code text not null,
  model text not null,
  calls bigint not null,
  last_at timestamptz(6) not null,
  primary key (account_id, hour, key_id, code, model)
);
create index refused_call_hours_hour on refused_call_hours (hour)`;

/** What is left of a deleted key, so that calls with it can be counted for their owner. */
const deletedKeys = `
create table deleted_api_keys (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  name text not null,
  key_hash bytea not null unique,
  deleted_at timestamptz(6) not null
);
create index deleted_api_keys_account on deleted_api_keys (account_id, deleted_at desc)`;

/** Null until the next credit: nobody reads the whole ledger for it. */
const lastCredit = `
alter table accounts add column last_credit numeric(24,12)`;
