import { Migration } from '@mikro-orm/migrations';

/** Why a call failed, for its owner. */
export class Migration20261220000000 extends Migration {
  override up(): void {
    this.addSql('alter table usage_events add column error_message text');
  }
}
