import type { Pool } from 'pg';

/** RELIABILITY.md (c) on our tables. Each query must return no row; numeric equality is exact, without tolerance. */
const QUERIES: Record<string, string> = {
  'I1 one event per id': 'select id::text from usage_events group by id having count(*) > 1',
  'I1 one ledger entry per event':
    'select event_id::text as id from ledger_entries where event_id is not null group by kind, event_id having count(*) > 1',
  'I1 one ledger entry per idempotency key':
    'select idempotency_key as id from ledger_entries where idempotency_key is not null group by account_id, idempotency_key having count(*) > 1',
  'I2 every charge has its debit and every debit its charge': `
    select coalesce(u.id, l.event_id)::text as id
    from usage_events u full join (select * from ledger_entries where kind = 'usage') l on l.event_id = u.id
    where coalesce(u.cost, 0) <> -coalesce(l.amount, 0) or u.id is null or l.account_id <> u.account_id
      or l.price_in <> u.price_in or l.price_out <> u.price_out`,
  'I3 cost is tokens × price ÷ 1,000,000': `
    select id::text from usage_events
    where status = 'success' and cost <> (input_tokens * price_in + output_tokens * price_out) / 1000000`,
  'I4 the balance is the sum of the ledger': `
    select a.id::text from accounts a
    where balance <> (select coalesce(sum(amount), 0) from ledger_entries where account_id = a.id)`,
  'I6 the running balance has no gap': `
    select id::text from (
      select *, lag(balance_after, 1, 0) over w as before, row_number() over w as nth
      from ledger_entries window w as (partition by account_id order by seq)) x
    where balance_after <> before + amount or seq <> nth`,
  'I6 the account knows its newest entry': `
    select a.id::text from accounts a
    where ledger_seq <> (select coalesce(max(seq), 0) from ledger_entries where account_id = a.id)`,
  'I7 no account is further below the floor than its dearest call': `
    select l.account_id::text as id from ledger_entries l where l.kind = 'usage' group by l.account_id
    having min(balance_after) < 0.001 - (select max(cost) from usage_events u where u.account_id = l.account_id)`,
  'I8 errors are free': `select id::text from usage_events where status = 'error' and cost <> 0`,
  'I10 spend of a key per day is the sum of its events': `
    select coalesce(s.key_id, u.key_id)::text as id
    from key_spend_days s full join (
      select key_id, (created_at at time zone 'UTC')::date as day, sum(cost) as spend
      from usage_events where key_id is not null and cost > 0 group by 1, 2) u using (key_id, day)
    where s.spend is distinct from u.spend`,
  'I10 spend of a key per month is the sum of its events': `
    select coalesce(s.key_id, u.key_id)::text as id
    from key_spend_months s full join (
      select key_id, to_char(created_at at time zone 'UTC', 'YYYY-MM') as month, sum(cost) as spend
      from usage_events where key_id is not null and cost > 0 group by 1, 2) u using (key_id, month)
    where s.spend is distinct from u.spend`,
  'I10 events per account and hour are counted': `
    select coalesce(h.account_id, u.account_id)::text as id
    from account_usage_hours h full join (
      select account_id, date_trunc('hour', created_at, 'UTC') as hour, count(*) as events
      from usage_events group by 1, 2) u using (account_id, hour)
    where h.events is distinct from u.events`,
  'I13 sane rows': `
    select id::text from usage_events where input_tokens < 0 or output_tokens < 0 or cost < 0 or latency_ms < 0`,
};

/** Runs every invariant; the answer names each violation with up to five ids and is empty when all hold. */
export async function checkInvariants(pool: Pool): Promise<string[]> {
  const violations: string[] = [];
  for (const [name, query] of Object.entries(QUERIES)) {
    const { rows } = await pool.query<{ id: string }>(`${query} limit 5`);
    if (rows.length > 0) violations.push(`${name}: ${rows.map((row) => row.id).join(', ')}`);
  }
  return violations;
}
