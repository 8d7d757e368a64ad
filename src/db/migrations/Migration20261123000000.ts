import { Migration } from '@mikro-orm/migrations';

/** A flush doesn't wait for a row that somebody has locked (docs/decisions/0084-locked-accounts-wait-apart.md). */
export class Migration20261123000000 extends Migration {
  override up(): void {
    // Another flush holds a row for milliseconds; who holds it for longer has forgotten it.
    this.addSql(`alter function flush_usage set lock_timeout = '300ms'`);
    this.addSql(unlockedAccounts);
  }
}

/**
 * Those of the accounts whose row nobody has locked, and those that don't exist, which nobody can lock. Waits for no row,
 * and for the table no longer than a flush does.
 */
const unlockedAccounts = `
create function unlocked_accounts(p_accounts uuid[]) returns setof uuid language sql volatile
  set lock_timeout = '300ms' set enable_seqscan = off as $$
  with unlocked as materialized (
    select id from accounts where id = any(p_accounts) for no key update skip locked)
  select id from unlocked
  union all
  select id from unnest(p_accounts) as id where not exists (select from accounts a where a.id = id)
$$`;
