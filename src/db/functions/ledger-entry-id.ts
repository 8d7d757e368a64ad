import type { SqlFunction } from './sql-function.js';

/** Returns the id of the ledger entry that begins at a place in the sequence of an account's charges and credits. */
export const ledgerEntryId: SqlFunction = {
  name: 'ledger_entry_id',
  sql: `
create or replace function ledger_entry_id(p_account uuid, p_first bigint) returns uuid language sql immutable as $$
  select overlay(overlay(md5(p_account || ' ' || p_first) placing '8' from 13) placing '8' from 17)::uuid
$$`,
};
