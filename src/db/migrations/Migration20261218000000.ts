import { Migration } from '@mikro-orm/migrations';

/**
 * Tests and redeliveries of alerts are counted as they are requested, so nothing looks for their events any more. A process of the
 * release before that still does finds them by `alert_events_account`.
 */
export class Migration20261218000000 extends Migration {
  override up(): void {
    this.addSql('drop index if exists alert_events_asked');
  }
}
