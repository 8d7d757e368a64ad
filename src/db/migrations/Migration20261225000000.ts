import { Migration } from '@mikro-orm/migrations';

/**
 * Slices of the open hour (docs/decisions/0212-the-open-hour-in-slices.md). They are not logged: each reader compares their
 * number of calls with that of the hour.
 *
 * The unique index of `usage_rollups` began with the hour. PostgreSQL preferred it to that of the account and read three
 * times as much. A table with rows gets the index of hours later, while it is written (src/db/partition-indexes.ts).
 */
export class Migration20261225000000 extends Migration {
  override up(): void {
    this.addSql(`
      create unlogged table usage_slices (
        slice timestamptz(6) not null,
        account_id uuid not null,
        key_id uuid,
        prompt_version_id uuid,
        model text not null,
        requests bigint not null,
        errors bigint not null,
        input_tokens bigint not null,
        output_tokens bigint not null,
        cost numeric not null,
        latency_buckets smallint[] not null,
        latency_counts integer[] not null
      )`);
    this.addSql('create index usage_slices_account on usage_slices (account_id, slice)');
    this.addSql(`
      create unlogged table usage_sliced_hours (
        hour timestamptz(6) primary key,
        until timestamptz(6) not null
      )`);
    this.addSql(`
      alter table usage_rollups drop constraint if exists usage_rollups_hour_account_id_key_id_widget_id_model_key`);
    this.addSql(`
      do $$ begin
        if not exists (select from usage_rollups) then
          create index usage_rollups_hour on usage_rollups (hour);
        end if;
      end $$`);
  }
}
