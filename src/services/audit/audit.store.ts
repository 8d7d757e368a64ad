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
    guarantee: 'Every ledger entry of calls has exactly their charges, and each charge is in one.',
    // The charges after the newest entry are an entry that isn't written yet.
    sql: `with entries as materialized (
        select *, lag(seq, 1, 0::bigint) over w as previous, lag(created_at, 1, '-infinity') over w as since
        from (
          select account_id, seq, kind = 'usage' and event_id is null as of_calls, amount, created_at from ledger_entries
          union all
          select a.id, a.ledger_seq, true, a.balance - coalesce(l.balance_after, 0), 'infinity'
          from accounts a left join lateral (
            select seq, balance_after from ledger_entries where account_id = a.id order by seq desc limit 1) l on true
          where a.ledger_seq > coalesce(l.seq, 0)) ledger
        window w as (partition by account_id order by seq)
      ), sums as (
        select account_id, entry, count(*) as calls, sum(cost) as cost from (
          select account_id, cost, min(entry) over (partition by account_id order by seq desc, cost nulls first
            rows unbounded preceding) as entry
          from (
            select account_id, seq, seq as entry, null::numeric as cost from entries
            union all select account_id, seq, null, cost from calls where seq is not null) marks) placed
        where cost is not null group by 1, 2)
      select coalesce(e.account_id, s.account_id) as subject
      from entries e full join sums s on s.account_id = e.account_id and s.entry = e.seq
      where e.seq is null or not e.of_calls and s.calls > 0
        or e.of_calls and e.since >= ${KEPT_FROM}
          and (e.amount <> -coalesce(s.cost, 0) or e.seq - e.previous <> coalesce(s.calls, 0))`,
  },
  {
    name: 'I2-former',
    guarantee: 'Up to version 1.1, every charge has its own ledger entry with the same amount, account and prices, and vice versa.',
    sql: `select coalesce(u.id, l.event_id) as subject
      from (select * from usage_events where created_at >= ${KEPT_FROM} and seq is null) u
        full join (select * from ledger_entries where event_id is not null and created_at >= ${KEPT_FROM}) l
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
    guarantee: 'A balance is the sum of its ledger and of the charges after it, and every ledger has its account.',
    sql: `with ledgers as materialized (
        select account_id, sum(amount) as total, max(seq) as newest from ledger_entries group by 1
      ), later as materialized (
        select c.account_id, sum(c.cost) as cost from calls c left join ledgers l using (account_id)
        where c.seq > coalesce(l.newest, 0) group by 1)
      select coalesce(a.id, l.account_id) as subject
      from accounts a full join ledgers l on l.account_id = a.id left join later on later.account_id = a.id
      where a.id is null or a.ledger_seq < coalesce(l.newest, 0)
        or a.balance <> coalesce(l.total, 0) - coalesce(later.cost, 0)`,
  },
  {
    name: 'I6-chain',
    guarantee: 'The running balance has no gaps or jumps.',
    sql: `select id as subject from (
        select *, lag(balance_after, 1, 0) over w as before, lag(seq, 1, 0::bigint) over w as previous
        from ledger_entries window w as (partition by account_id order by seq)) entries
      where balance_after <> before + amount
        or case when kind = 'usage' and event_id is null then seq <= previous else seq <> previous + 1 end`,
  },
  {
    name: 'I6-calls',
    guarantee: 'The balance after each call follows from the one before, without a gap.',
    sql: `select c.id as subject from (
        select account_id, id, seq, cost, balance_after, lag(seq) over w as previous, lag(balance_after) over w as before
        from calls where seq is not null window w as (partition by account_id order by seq)) c
      where case when previous = seq - 1 then balance_after <> before - cost
        else balance_after + cost <> coalesce((
          select l.balance_after from ledger_entries l where l.account_id = c.account_id and l.seq = c.seq - 1),
          case when c.seq = 1 then 0 when c.previous is null then balance_after + cost end, balance_after) end`,
  },
  {
    name: 'I7',
    guarantee:
      'No charge takes an account further below the floor ($0.001; 0 for messages of widgets) than the price of the most expensive call that started while the charged one ran.',
    // Of the calls charged so far, the one admitted last saw its minimum balance above all holds, so only its own
    // price may be missing. It began no sooner than the call that this entry charges. A second of grace, because two
    // edges have two clocks. An adjustment may take back money that was promised to calls in flight, and an edge
    // learns of it a little later.
    sql: `with charges as (
        select account_id, seq, balance_after, created_at, latency_ms, widget_id, cost from calls where seq is not null
        union all
        select l.account_id, l.seq, l.balance_after, l.created_at, u.latency_ms, u.widget_id, u.cost
        from ledger_entries l join usage_events u on u.id = l.event_id and u.created_at = l.created_at
        where l.event_id is not null and u.seq is null
      ), below as materialized (
        select u.account_id, u.seq, u.balance_after, u.created_at - u.latency_ms * interval '1 millisecond' as began
        from charges u
        where u.balance_after < ${FLOOR} - u.cost
          and u.created_at - u.latency_ms * interval '1 millisecond' - ${ORDER_GRACE} >= ${KEPT_FROM})
      select distinct b.account_id as subject
      from below b
      where b.balance_after < (
          select min(${FLOOR} - u.cost) from charges u
          where u.account_id = b.account_id and u.seq <= b.seq and u.created_at >= b.began - ${ORDER_GRACE}
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
