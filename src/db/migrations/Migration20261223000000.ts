import { Migration } from '@mikro-orm/migrations';

/**
 * Hours with errors of an account, and an administrator's entries in the audit log. Tables that have rows get their index
 * later, while they are written (src/db/partition-indexes.ts).
 */
export class Migration20261223000000 extends Migration {
  override up(): void {
    this.addSql(`
      do $$ begin
        if not exists (select from usage_rollups) then
          create index usage_rollups_errors on usage_rollups (account_id, hour) where errors > 0;
        end if;
        if not exists (select from admin_actions) then
          create index admin_actions_actor on admin_actions (actor_id, created_at desc, id desc);
        end if;
      end $$`);
  }
}
