import { Migration } from '@mikro-orm/migrations';

/**
 * Where a guard has moved a call: the requested model was never called, so its public figures leave the call out. Hours with
 * failures are rolled up again, since they counted no call as rate limited. `record_calls` stays for edges of the release before;
 * a migration of the next release drops it.
 */
export class Migration20261216000000 extends Migration {
  override up(): void {
    this.addSql('alter table usage_events add column moved_to text');
    this.addSql('insert into rollup_dirty select distinct hour from model_hours where errors > 0');
  }
}
