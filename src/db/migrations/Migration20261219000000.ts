import { Migration } from '@mikro-orm/migrations';

/** How the deployments fare, as each process that routes knows it. */
export class Migration20261219000000 extends Migration {
  override up(): void {
    this.addSql(`alter table proxy_reports add column deployments jsonb not null default '{}'`);
  }
}
