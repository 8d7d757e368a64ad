import { Migration } from '@mikro-orm/migrations';

/**
 * Latencies are those of calls that succeeded (docs/decisions/0119-figures-that-compare.md). Hours that counted failed calls
 * too are rolled up again, as far as their events are kept, and read from the events until then.
 */
export class Migration20261203000000 extends Migration {
  override up(): void {
    this.addSql(`
      insert into rollup_dirty select distinct hour from usage_rollups
      where errors > 0 and hour >= coalesce((select kept_from from usage_retention), '-infinity')`);
  }
}
