import { Migration } from '@mikro-orm/migrations';

/**
 * Calls per prompt version and hour (docs/decisions/0160-statistics-of-versions-from-roll-ups.md). Hours that have such calls are
 * rolled up again, and read from the events until then.
 */
export class Migration20261212010000 extends Migration {
  override up(): void {
    this.addSql(`
      create table prompt_version_hours (
        version_id uuid not null,
        hour timestamptz(6) not null,
        account_id uuid not null,
        key_id uuid,
        model text not null,
        requests bigint not null,
        errors bigint not null,
        input_tokens bigint not null,
        output_tokens bigint not null,
        cost numeric not null,
        latency_buckets smallint[] not null,
        latency_counts integer[] not null,
        unique nulls not distinct (version_id, hour, account_id, key_id, model)
      )`);
    this.addSql('create index prompt_version_hours_hour on prompt_version_hours (hour)');
    this.addSql(`
      create table prompt_version_latency_days (
        version_id uuid not null,
        day date not null,
        account_id uuid not null,
        latency_buckets smallint[] not null,
        latency_counts bigint[] not null,
        primary key (version_id, day, account_id)
      )`);
    this.addSql('create index prompt_version_latency_days_day on prompt_version_latency_days (day)');
    this.addSql(`
      insert into rollup_dirty select distinct date_trunc('hour', created_at, 'UTC') from usage_events
      where prompt_version_id is not null
        and created_at >= coalesce((select kept_from from usage_retention), '-infinity')`);
  }
}
