import { Migration } from '@mikro-orm/migrations';

/**
 * Finds the accounts of one mailbox. Building it keeps charges waiting for about a second per 500,000 accounts; what waits is
 * charged afterwards.
 */
export class Migration20261218070000 extends Migration {
  override up(): void {
    this.addSql(`
      create index accounts_mailbox on accounts ((
        case when split_part(email_key, '@', 2) in ('gmail.com', 'googlemail.com')
          then replace(coalesce(substring(email_key from '^[^+@]+'), split_part(email_key, '@', 1)), '.', '') || '@gmail.com'
          else coalesce(substring(email_key from '^[^+@]+'), split_part(email_key, '@', 1)) || '@' || split_part(email_key, '@', 2)
        end)) where email_key is not null`);
  }
}
