import { Migration } from '@mikro-orm/migrations';

/**
 * Credits of an account are found among its charges. A ledger that has entries gets the index later, while it is written
 * (src/db/partition-indexes.ts).
 */
export class Migration20261203010000 extends Migration {
  override up(): void {
    this.addSql(`
      do $$ begin
        if not exists (select from ledger_entries) then
          create index ledger_entries_credits on ledger_entries (account_id, created_at) where kind <> 'usage';
        end if;
      end $$`);
  }
}
