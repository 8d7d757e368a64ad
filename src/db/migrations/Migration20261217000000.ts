import { Migration } from '@mikro-orm/migrations';

/**
 * What calls cost, in the merged days: sums over years needn't read their hours. Days that are there have none, which is null,
 * and are merged again in the background: until then, they are summed from their hours.
 *
 * Counts that edges wrote behind the deletion of an account go, too.
 */
export class Migration20261217000000 extends Migration {
  override up(): void {
    this.addSql('alter table usage_latency_days add column cost numeric');
    this.addSql('create table rollup_unsummed_days (day date primary key)');
    this.addSql(`
      insert into rollup_unsummed_days
      select generate_series(min(day), max(day), interval '1 day')::date from usage_latency_days`);
    this.addSql(`
      delete from widget_site_days s where not exists (select from widgets w where w.id = s.widget_id)`);
  }
}
