import type { SqlFunction } from './sql-function.js';

/**
 * Writes the ledger entry of the charges of accounts that have no entry yet: one per account, with the sum of the charges after
 * its newest entry. The caller has locked the accounts. Returns the number of entries.
 */
export const postCharges: SqlFunction = {
  name: 'post_charges',
  sql: `
create or replace function post_charges(p_accounts uuid[]) returns integer language plpgsql volatile
  set enable_seqscan = off as $$
declare
  posted integer;
begin
  insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
  select ledger_entry_id(a.id, coalesce(l.seq, 0) + 1), a.id, a.ledger_seq, 'usage',
    a.balance - coalesce(l.balance_after, 0), a.balance, now()
  from accounts a left join lateral (
    select seq, balance_after from ledger_entries where account_id = a.id order by seq desc limit 1) l on true
  where a.id = any(p_accounts) and a.ledger_seq > coalesce(l.seq, 0);
  get diagnostics posted = row_count;
  return posted;
end $$`,
};
