import { KEPT_FROM } from '../retention/kept-from.store.js';
import type { Invariant } from './invariant.js';
import { during, idDuring, type TimeSlice } from './time-slice.rules.js';

/** Clock difference between two edges, and rounding to milliseconds. */
const ORDER_GRACE = `interval '1 second'`;
/** How much later than its ledger entry a call may have ended, by the clock of an edge. */
const CLOCK_GRACE = `interval '1 hour'`;
/** The minimum balance that admits a call `u`. */
const FLOOR = `case when u.widget_id is null then 0.001 else 0 end`;
/** How long an edge serves cached accounts while the database is unavailable. */
const STALE_BALANCE = `interval '1 minute'`;
const BEGAN = `u.created_at - u.latency_ms * interval '1 millisecond'`;

/** Charges `u` that match a condition, with place and balance: of `calls`, and of version 1.1 from their ledger entries. */
const charges = (condition: string): string => `
  select account_id, seq, balance_after, created_at, latency_ms, widget_id, cost, true as posted_later
  from calls u where seq is not null and ${condition}
  union all
  select u.account_id, l.seq, l.balance_after, u.created_at, u.latency_ms, u.widget_id, u.cost, false
  from usage_events u cross join lateral (
    select seq, balance_after from ledger_entries where id = u.id and event_id is not null offset 0) l
  where u.seq is null and u.cost > 0 and ${condition}`;

/** Of the calls of a stretch of time. */
export const callInvariants: readonly Invariant[] = [
  {
    name: 'I1-event',
    guarantee: 'A usage event has a unique ID.',
    times: (slice) => `
      select id as subject from calls where ${idDuring('id', slice)} group by id having count(*) > 1
      union
      select id from usage_events where ${during('created_at', slice)} group by id having count(*) > 1`,
  },
  {
    name: 'I3',
    guarantee: 'A cost is exactly tokens × price ÷ 1,000,000.',
    times: (slice) => `select id as subject from usage_events
      where ${during('created_at', slice)} and status = 'success'
        and cost * 1000000 <> input_tokens * price_in + output_tokens * price_out`,
  },
  {
    name: 'I7',
    guarantee:
      'No charge takes an account further below the floor ($0.001; 0 for messages of widgets) than the price of the most expensive call that started while the charged one ran.',
    times: floors,
  },
  {
    name: 'I8',
    guarantee: 'A failed call is free.',
    times: (slice) =>
      `select id as subject from usage_events where ${during('created_at', slice)} and status = 'error' and cost <> 0`,
  },
  {
    name: 'I13',
    guarantee: 'No count, cost or latency is negative.',
    times: (slice) => `select id as subject from usage_events
      where ${during('created_at', slice)}
        and (input_tokens < 0 or output_tokens < 0 or cost < 0 or latency_ms < 0 or ttft_ms < 0)`,
  },
];

/**
 * Of the calls charged so far, the one admitted last saw its minimum balance above all holds, so only its own price may be
 * missing. It began no sooner than the call that this entry charges, and ended before that one was in the ledger. A second of
 * grace, because two edges have two clocks. An adjustment may take back money that was promised to calls in flight, and an edge
 * learns of it a little later.
 */
function floors(slice: TimeSlice): string {
  return `with below as materialized (
      select u.account_id, u.seq, u.balance_after, ${BEGAN} as began, case when u.posted_later then (
          select l.created_at + ${CLOCK_GRACE} from ledger_entries l
          where l.account_id = u.account_id and l.seq >= u.seq order by l.seq limit 1) end as posted
      from (${charges(during('u.created_at', slice))}) u
      where u.balance_after < ${FLOOR} - u.cost and ${BEGAN} - ${ORDER_GRACE} >= ${KEPT_FROM})
    select distinct b.account_id as subject
    from below b
    where b.balance_after < (
        select min(${FLOOR} - u.cost)
        from (${charges(`u.account_id = b.account_id and u.created_at >= b.began - ${ORDER_GRACE}
          and u.created_at <= coalesce(b.posted, 'infinity')`)}) u
        where u.seq <= b.seq and ${BEGAN} >= b.began - ${ORDER_GRACE})
      and not exists (
        select from ledger_entries a
        where a.account_id = b.account_id and a.kind = 'adjustment' and a.amount < 0 and a.seq < b.seq
          and a.created_at > b.began - ${STALE_BALANCE})`;
}
