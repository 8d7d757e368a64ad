import { Migration } from '@mikro-orm/migrations';

/** Hourly figures of each model for the public leaderboard. Hours that were rolled up before are rolled up again. */
export class Migration20261202000000 extends Migration {
  override up(): void {
    this.addSql(modelHours);
    this.addSql(modelAccountHours);
    this.addSql('insert into rollup_dirty select distinct hour from usage_rollups');
  }
}

const modelHours = `
create table model_hours (
  hour timestamptz(6) not null,
  model text not null,
  successes bigint not null,
  errors bigint not null,
  rate_limited bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost numeric not null,
  success_tokens bigint not null,
  success_ms bigint not null,
  latency_buckets smallint[] not null,
  latency_counts bigint[] not null,
  ttft_buckets smallint[] not null,
  ttft_counts bigint[] not null,
  input_buckets smallint[] not null,
  input_counts bigint[] not null,
  output_buckets smallint[] not null,
  output_counts bigint[] not null,
  primary key (hour, model)
)`;

/** How many calls of a model an account made: figures of few accounts are not shown. */
const modelAccountHours = `
create table model_account_hours (
  hour timestamptz(6) not null,
  model text not null,
  account_id uuid not null,
  requests bigint not null,
  primary key (hour, model, account_id)
)`;
