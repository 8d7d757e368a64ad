import type { SqlFunction } from './sql-function.js';

/** Returns the id of the ledger entry that begins at a place in the sequence of an account's charges and credits. */
export const ledgerEntryId: SqlFunction = {
  name: 'ledger_entry_id',
  sql: `
create or replace function ledger_entry_id(p_account uuid, p_first bigint) returns uuid language sql immutable as $$
  select overlay(overlay(md5(p_account || ' ' || p_first) placing '8' from 13) placing '8' from 17)::uuid
$$`,
};

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

/**
 * Trigger function, with its trigger: the charges before an entry are in the ledger before it. So whoever writes a credit needs
 * to know only the account's balance and sequence.
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
