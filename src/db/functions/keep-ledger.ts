import type { SqlFunction } from './sql-function.js';

/**
 * For a trigger: an account with ledger entries can't be deleted. The entries have no foreign key, which every charge
 * would look up.
 */
export const keepLedger: SqlFunction = {
  name: 'keep_ledger',
  sql: `
create or replace function keep_ledger() returns trigger language plpgsql as $$
begin
  if exists (select from ledger_entries where account_id = old.id) then
    raise exception 'account % has ledger entries', old.id using errcode = 'restrict_violation';
  end if;
  return old;
end $$`,
};
