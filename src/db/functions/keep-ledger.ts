import type { SqlFunction } from './sql-function.js';

/**
 * Trigger function: an account with ledger entries can't be deleted. A foreign key would cost a look-up with every charge.
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
