import { Migration } from '@mikro-orm/migrations';

/** Loop detection of widgets, and what the messages of each site cost. */
export class Migration20261211000000 extends Migration {
  override up(): void {
    this.addSql('alter table widgets add column loop_detection boolean not null default false');
    this.addSql('alter table widget_site_days add column cost numeric(24,12) not null default 0');
  }
}
