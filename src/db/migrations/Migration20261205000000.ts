import { Migration } from '@mikro-orm/migrations';

/**
 * Hourly latencies by length of the answer: of each account, and of all. The hours that the leaderboard can show are rolled up
 * again.
 */
export class Migration20261205000000 extends Migration {
  override up(): void {
    this.addSql(accountBandHours);
    this.addSql('create index account_band_hours_account on account_band_hours (account_id, hour)');
    this.addSql(modelBandHours);
    this.addSql(
      `insert into rollup_dirty select distinct hour from usage_rollups where hour >= now() - interval '32 days'`,
    );
  }
}

const accountBandHours = `
create table account_band_hours (
  hour timestamptz(6) not null,
  account_id uuid not null,
  model text not null,
  band smallint not null,
  successes bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  latency_buckets smallint[] not null,
  latency_counts bigint[] not null,
  primary key (hour, account_id, model, band)
)`;

const modelBandHours = `
create table model_band_hours (
  hour timestamptz(6) not null,
  model text not null,
  band smallint not null,
  latency_buckets smallint[] not null,
  latency_counts bigint[] not null,
  primary key (hour, model, band)
)`;
