import { Migration } from '@mikro-orm/migrations';

/** Usage of one key is found by an index, not among all of its account (docs/decisions/0073-usage-by-key.md). */
export class Migration20261125000000 extends Migration {
  override up(): void {
    this.addSql(usageByKey);
  }
}

/**
 * Where nothing is written yet the index is simply there. Else only its frame is made here, in a moment: the partitions'
 * parts are built behind the transaction while usage is written (src/db/partition-indexes.ts).
 */
const usageByKey = `
do $$
declare
  columns text := '(account_id, key_id, created_at desc) where key_id is not null';
begin
  if exists (select from usage_events) then
    execute 'create index usage_events_key on only usage_events ' || columns;
  else
    execute 'create index usage_events_key on usage_events ' || columns;
  end if;
end $$`;
