import type { SqlFunction } from './sql-function.js';

/**
 * Returns the accounts whose row isn't locked, and those that don't exist, which can't be locked. Waits for no row, and for
 * the table no longer than a flush does.
 */
export const unlockedAccountsFunction: SqlFunction = {
  name: 'unlocked_accounts',
  sql: `
create or replace function unlocked_accounts(p_accounts uuid[]) returns setof uuid language sql volatile
  set lock_timeout = '300ms' set enable_seqscan = off as $$
  with unlocked as materialized (
    select id from accounts where id = any(p_accounts) for no key update skip locked)
  select id from unlocked
  union all
  select id from unnest(p_accounts) as id where not exists (select from accounts a where a.id = id)
$$`,
};
