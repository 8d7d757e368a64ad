import type { SqlFunction } from './sql-function.js';

/**
 * Trigger function and its trigger: before a credit is written, writes the ledger entry of the charges that precede it. Code that
 * writes a credit only needs the account's balance and sequence.
 */
export const postChargesBefore: SqlFunction = {
  name: 'post_charges_before',
  sql: `
create or replace function post_charges_before() returns trigger language plpgsql as $$
declare
  newest record;
begin
  select seq, balance_after into newest from ledger_entries where account_id = new.account_id order by seq desc limit 1;
  if new.seq > coalesce(newest.seq, 0) + 1 then
    insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
    values (ledger_entry_id(new.account_id, coalesce(newest.seq, 0) + 1), new.account_id, new.seq - 1, 'usage',
      new.balance_after - new.amount - coalesce(newest.balance_after, 0), new.balance_after - new.amount, new.created_at);
  end if;
  return new;
end $$;
create or replace trigger ledger_entries_post_charges before insert on ledger_entries
  for each row when (new.kind <> 'usage') execute function post_charges_before()`,
};
