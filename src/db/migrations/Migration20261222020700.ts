import { Migration } from '@mikro-orm/migrations';

/**
 * Reports of running processes, each renewed every few seconds, are not written to the WAL. After a crash of the database the table is
 * empty, until the processes report again.
 */
export class Migration20261222020700 extends Migration {
  override up(): void {
    this.addSql('alter table proxy_reports set unlogged');
  }
}
