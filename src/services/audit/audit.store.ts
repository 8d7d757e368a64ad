import { KEPT_FROM } from '../retention/kept-from.store.js';
import { alertInvariants } from './alert-invariants.store.js';
import { guardInvariants } from './guard-invariants.store.js';
import type { Invariant } from './invariant.js';
import { rollupInvariants } from './rollup-invariants.store.js';

/** Clock difference between two edges, and rounding to milliseconds. */
const ORDER_GRACE = `interval '1 second'`;
/** The minimum balance that admits a call `u`. */
const FLOOR = `case when u.widget_id is null then 0.001 else 0 end`;
/** How long an edge serves cached accounts while the database is unavailable. */
const STALE_BALANCE = `interval '1 minute'`;

/**
 * The invariants of docs/requirements.md on our tables. Amounts are compared exactly. Comparisons with usage events cover the time for
 * which events are kept; the ledger proves itself for ever.
 */
export const invariants: readonly Invariant[] = [
  {
    name: 'I1-event',
    guarantee: 'A usage event has a unique ID.',
    sql: 'select id as subject from usage_events group by id having count(*) > 1',
  },
  {
    name: 'I1-entry',
    guarantee: 'An event is booked once.',
    sql: `select event_id as subject from ledger_entries where event_id is not null
      group by kind, event_id having count(*) > 1`,
  },
  {
    name: 'I1-idempotency',
    guarantee: 'An idempotency key of an account books once.',
    sql: `select idempotency_key as subject from ledger_entries where idempotency_key is not null
      group by account_id, idempotency_key having count(*) > 1`,
  },
  {
    name: 'I2',
    guarantee: 'Every charge has a matching debit with the same amount, account and prices, and vice versa.',
    sql: `select coalesce(u.id, l.event_id) as subject
      from (select * from usage_events where created_at >= ${KEPT_FROM}) u
        full join (select * from ledger_entries where kind = 'usage' and created_at >= ${KEPT_FROM}) l
          on l.event_id = u.id
      where u.id is null or coalesce(u.cost, 0) <> -coalesce(l.amount, 0) or l.account_id <> u.account_id
        or l.price_in <> u.price_in or l.price_out <> u.price_out`,
  },
  {
    name: 'I3',
    guarantee: 'A cost is exactly tokens × price ÷ 1,000,000.',
    sql: `select id as subject from usage_events
      where status = 'success' and cost * 1000000 <> input_tokens * price_in + output_tokens * price_out`,
  },
  {
    name: 'I4',
    guarantee: 'A balance is the sum of its ledger, and every ledger has its account.',
    sql: `select coalesce(a.id, l.account_id) as subject
      from accounts a full join (select account_id, sum(amount) as total from ledger_entries group by 1) l
        on l.account_id = a.id
      where a.id is null or a.balance <> coalesce(l.total, 0)`,
  },
  {
    name: 'I6-chain',
    guarantee: 'The running balance has no gaps or jumps.',
    sql: `select id as subject from (
        select *, lag(balance_after, 1, 0) over w as before, row_number() over w as nth
        from ledger_entries window w as (partition by account_id order by seq)) entries
      where balance_after <> before + amount or seq <> nth`,
  },
  {
    name: 'I6-head',
    guarantee: 'An account points to its newest ledger entry.',
    sql: `select a.id as subject
      from accounts a left join (select account_id, max(seq) as newest from ledger_entries group by 1) l
        on l.account_id = a.id
      where a.ledger_seq <> coalesce(l.newest, 0)`,
  },
  {
    name: 'I7',
    guarantee:
      'No charge takes an account further below the floor ($0.001; 0 for messages of widgets) than the price of the most expensive call that started while the charged one ran.',
    // Of the calls charged so far, the one admitted last saw its minimum balance above all holds, so only its own
    // price may be missing. It began no sooner than the call that this entry charges. A second of grace, because two
    // edges have two clocks. An adjustment may take back money that was promised to calls in flight, and an edge
    // learns of it a little later.
    sql: `with below as materialized (
        select l.account_id, l.seq, l.balance_after, l.created_at - u.latency_ms * interval '1 millisecond' as began
        from ledger_entries l join usage_events u on u.id = l.event_id and u.created_at = l.created_at
        where l.kind = 'usage' and l.balance_after < ${FLOOR} - u.cost
          and l.created_at - u.latency_ms * interval '1 millisecond' - ${ORDER_GRACE} >= ${KEPT_FROM})
      select distinct b.account_id as subject
      from below b
      where b.balance_after < (
          select min(${FLOOR} - u.cost) from usage_events u join ledger_entries l on l.id = u.id and l.seq <= b.seq
          where u.account_id = b.account_id and u.created_at >= b.began - ${ORDER_GRACE}
            and u.created_at - u.latency_ms * interval '1 millisecond' >= b.began - ${ORDER_GRACE})
        and not exists (
          select from ledger_entries a
          where a.account_id = b.account_id and a.kind = 'adjustment' and a.amount < 0 and a.seq < b.seq
            and a.created_at > b.began - ${STALE_BALANCE})`,
  },
  {
    name: 'I8',
    guarantee: 'A failed call is free.',
    sql: `select id as subject from usage_events where status = 'error' and cost <> 0`,
  },
  {
    name: 'I10-day',
    guarantee: "A key's spend on a UTC day is the sum of its events.",
    sql: `select coalesce(s.key_id, u.key_id) as subject
      from (select * from key_spend_days where day::timestamp at time zone 'UTC' >= ${KEPT_FROM}) s full join (
        select key_id, (created_at at time zone 'UTC')::date as day, sum(cost) as spend
        from usage_events where key_id is not null and cost > 0 and created_at >= ${KEPT_FROM} group by 1, 2) u
        using (key_id, day)
      where coalesce(s.spend, 0) <> coalesce(u.spend, 0)`,
  },
  {
    name: 'I10-hour',
    guarantee: 'The hourly event counts of an account match its events.',
    sql: `select coalesce(h.account_id, u.account_id) as subject
      from (select * from account_usage_hours where hour >= ${KEPT_FROM}) h full join (
        select account_id, date_trunc('hour', created_at, 'UTC') as hour, count(*) as events
        from usage_events where created_at >= ${KEPT_FROM} group by 1, 2) u using (account_id, hour)
      where coalesce(h.events, 0) <> coalesce(u.events, 0)`,
  },
  ...rollupInvariants,
  ...alertInvariants,
  ...guardInvariants,
  {
    name: 'I13',
    guarantee: 'No count, cost or latency is negative.',
    sql: `select id as subject from usage_events
      where input_tokens < 0 or output_tokens < 0 or cost < 0 or latency_ms < 0 or ttft_ms < 0`,
  },
];
