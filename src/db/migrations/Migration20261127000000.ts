import { Migration } from '@mikro-orm/migrations';

/** Usage events are kept for a time (docs/decisions/0111-what-is-kept.md). */
export class Migration20261127000000 extends Migration {
  override up(): void {
    this.addSql(usageRetention);
  }
}

/** At most one row, once events were removed. */
const usageRetention = `
create table usage_retention (
  only_row boolean primary key default true check (only_row),
  kept_from timestamptz(6) not null
)`;
