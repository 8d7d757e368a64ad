import { KEPT_FROM } from '../retention/kept-from.store.js';
import { alertInvariants } from './alert-invariants.store.js';
import type { Invariant } from './invariant.js';

/** Between two edges' clocks, and what rounding to milliseconds takes. */
const ORDER_GRACE = `interval '1 second'`;
/** How long an edge serves cached accounts while the database is unavailable. */
const STALE_BALANCE = `interval '1 minute'`;

/**
 * RELIABILITY.md (c) on our tables. Equality of money is exact, without tolerance. What is compared with usage events is that of
 * the time of which they are kept; the ledger proves itself for ever.
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
      'No charge takes an account further below the floor than the price of the most expensive call that started while the charged one ran.',
    // The call that was admitted last among those charged so far saw the floor above all holds: only its own price may
    // be missing. It began no sooner than the one that this entry charges. A second's grace: two edges have two clocks.
    // An adjustment may take money back that calls in flight had been promised, and an edge learns of it a little later.
    sql: `with below as materialized (
        select l.account_id, l.seq, l.balance_after, l.created_at - u.latency_ms * interval '1 millisecond' as began
        from ledger_entries l join usage_events u on u.id = l.event_id and u.created_at = l.created_at
        where l.kind = 'usage' and l.balance_after < 0.001 - u.cost
          and l.created_at - u.latency_ms * interval '1 millisecond' - ${ORDER_GRACE} >= ${KEPT_FROM})
      select distinct b.account_id as subject
      from below b
      where b.balance_after < 0.001 - (
          select max(u.cost) from usage_events u join ledger_entries l on l.id = u.id and l.seq <= b.seq
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
  {
    name: 'I10-rollup',
    guarantee: 'Every rolled-up hour is the sum of its events.',
    // Both sides in one grouping: it takes two nulls for equal, which a join doesn't.
    sql: `with dirty as materialized (select distinct hour from rollup_dirty)
      select account_id as subject
      from (
        select hour, account_id, key_id, widget_id, model, requests, errors, input_tokens, output_tokens, cost,
          (select coalesce(sum(n), 0) from unnest(latency_counts) n) as latencies
        from usage_rollups where hour >= ${KEPT_FROM} and hour not in (select hour from dirty)
        union all
        select date_trunc('hour', created_at, 'UTC') as hour, account_id, key_id, widget_id, served_model, -count(*),
          -count(*) filter (where status = 'error'), -sum(input_tokens), -sum(output_tokens), -sum(cost),
          -count(*) filter (where status = 'success')
        from usage_events
        where created_at >= ${KEPT_FROM} and date_trunc('hour', created_at, 'UTC') not in (select hour from dirty)
        group by 1, 2, 3, 4, 5) sides
      group by hour, account_id, key_id, widget_id, model
      having (sum(requests), sum(errors), sum(input_tokens), sum(output_tokens), sum(cost), sum(latencies))
        is distinct from (0, 0, 0, 0, 0, 0)`,
  },
  {
    name: 'I10-version',
    guarantee: 'Every rolled-up hour of a prompt version is the sum of its events.',
    sql: `with dirty as materialized (select distinct hour from rollup_dirty)
      select version_id as subject
      from (
        select hour, version_id, account_id, key_id, model, requests, errors, input_tokens, output_tokens, cost,
          (select coalesce(sum(n), 0) from unnest(latency_counts) n) as latencies
        from prompt_version_hours where hour >= ${KEPT_FROM} and hour not in (select hour from dirty)
        union all
        select date_trunc('hour', created_at, 'UTC') as hour, prompt_version_id, account_id, key_id, served_model, -count(*),
          -count(*) filter (where status = 'error'), -sum(input_tokens), -sum(output_tokens), -sum(cost),
          -count(*) filter (where status = 'success')
        from usage_events
        where prompt_version_id is not null and created_at >= ${KEPT_FROM}
          and date_trunc('hour', created_at, 'UTC') not in (select hour from dirty)
        group by 1, 2, 3, 4, 5) sides
      group by hour, version_id, account_id, key_id, model
      having (sum(requests), sum(errors), sum(input_tokens), sum(output_tokens), sum(cost), sum(latencies))
        is distinct from (0, 0, 0, 0, 0, 0)`,
  },
  {
    name: 'I10-latency-day',
    guarantee: 'The latencies of every merged day are those of its hours.',
    sql: `with open as materialized (
        select day from rollup_dirty_days union select (hour at time zone 'UTC')::date from rollup_dirty)
      select account_id as subject
      from (
        select day, account_id, key_id, widget_id, (select sum(n) from unnest(latency_counts) n) as calls
        from usage_latency_days where day not in (select day from open)
        union all
        select (hour at time zone 'UTC')::date, account_id, key_id, widget_id,
          -sum((select coalesce(sum(n), 0) from unnest(latency_counts) n))
        from usage_rollups where (hour at time zone 'UTC')::date not in (select day from open)
        group by 1, 2, 3, 4) sides
      group by day, account_id, key_id, widget_id
      having sum(calls) is distinct from 0`,
  },
  {
    name: 'I10-version-day',
    guarantee: 'The latencies of every merged day of a prompt version are those of its hours.',
    sql: `with open as materialized (
        select day from rollup_dirty_days union select (hour at time zone 'UTC')::date from rollup_dirty)
      select version_id as subject
      from (
        select day, version_id, account_id, (select sum(n) from unnest(latency_counts) n) as calls
        from prompt_version_latency_days where day not in (select day from open)
        union all
        select (hour at time zone 'UTC')::date, version_id, account_id,
          -sum((select coalesce(sum(n), 0) from unnest(latency_counts) n))
        from prompt_version_hours where (hour at time zone 'UTC')::date not in (select day from open)
        group by 1, 2, 3) sides
      group by day, version_id, account_id
      having sum(calls) is distinct from 0`,
  },
  ...alertInvariants,
  {
    name: 'I13',
    guarantee: 'No count, cost or latency is negative.',
    sql: `select id as subject from usage_events
      where input_tokens < 0 or output_tokens < 0 or cost < 0 or latency_ms < 0 or ttft_ms < 0`,
  },
];
