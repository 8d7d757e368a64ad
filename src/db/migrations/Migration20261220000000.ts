import { Migration } from '@mikro-orm/migrations';

/** Why a call failed, and ids of calls that were refused, for their owner. */
export class Migration20261220000000 extends Migration {
  override up(): void {
    this.addSql('alter table usage_events add column error_message text');
    this.addSql(`alter table refused_call_hours add column ids uuid[] not null default '{}'`);
  }
}
