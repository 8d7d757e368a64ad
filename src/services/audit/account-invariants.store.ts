import { KEPT_FROM } from '../retention/kept-from.store.js';
import { chainOf, chargesOf, entriesOfPart, LATE, LATER, partsOf } from './account-slice.rules.js';
import type { Invariant } from './invariant.js';
import { during } from './time-slice.rules.js';

/** The newest ledger entry of the account `p`. */
const NEWEST = `left join lateral (
  select seq, balance_after, created_at from ledger_entries where account_id = p.account_id order by seq desc limit 1) n on true`;

/** Of the ledger, account by account: each entry follows from the one before, and from the calls between them. */
export const accountInvariants: readonly Invariant[] = [
  {
    name: 'I1-entry',
    guarantee: 'An event is booked once.',
    // The entry of an event has its id, which is unique.
    accounts: (slice) => `with ${partsOf(slice)}
      select distinct event_id as subject from parts p cross join ${entriesOfPart('l.event_id', 'l.event_id <> l.id')} e`,
  },
  {
    name: 'I1-idempotency',
    guarantee: 'An idempotency key of an account books once.',
    accounts: (slice) => `with ${partsOf(slice)}
      select idempotency_key as subject
      from parts p cross join ${entriesOfPart('l.idempotency_key, l.seq', 'l.idempotency_key is not null')} e
      where 1 = (
        select count(*) from ledger_entries l
        where l.account_id = p.account_id and l.idempotency_key = e.idempotency_key and l.seq < e.seq)`,
  },
  {
    name: 'I2',
    guarantee: 'Every ledger entry of calls has exactly their charges, and each charge is in one.',
    // The charges after the newest entry are an entry that isn't written yet.
    accounts: (slice) => `with ${chainOf(slice)}, ${chargesOf(slice)},
      due as materialized (
        select account_id, seq, of_calls, amount, previous, since from entries
        union all
        select a.id, a.ledger_seq, true, a.balance - coalesce(n.balance_after, 0), coalesce(n.seq, 0),
          coalesce(n.created_at, '-infinity')
        from parts p join accounts a on a.id = p.account_id ${NEWEST}
        where p.is_open and a.ledger_seq > coalesce(n.seq, 0)
      ), sums as (
        select account_id, entry, count(*) as calls, sum(cost) as cost from (
          select account_id, cost, min(entry) over (partition by account_id order by seq desc, cost nulls first
            rows unbounded preceding) as entry
          from (
            select account_id, seq, seq as entry, null::numeric as cost from due
            union all select account_id, seq, null, cost from charges) marks) placed
        where cost is not null group by 1, 2
      ), strays as (
        select s.account_id from stretches s cross join lateral (
            select c.id, c.seq, c.created_at from calls c
            where c.account_id = s.account_id and c.created_at >= s.since and c.created_at < s.ends
              and (c.seq <= s.start or c.seq > s.last) offset 0) c
          cross join lateral (
            select l.created_at from ledger_entries l
            where l.account_id = s.account_id and l.seq >= c.seq order by l.seq limit 1) l
          left join lateral (
            select p.created_at from ledger_entries p
            where p.account_id = s.account_id and p.seq < c.seq order by p.seq desc limit 1) p on true
        where (s.start > 0 or not s.is_open)
          and (c.created_at < p.created_at - ${LATE} or c.created_at > l.created_at + ${LATE})
          and exists (
            select from calls o
            where o.account_id = s.account_id and o.seq = c.seq and o.id <> c.id
              and o.created_at >= coalesce(p.created_at, '-infinity') - ${LATE} and o.created_at <= l.created_at + ${LATE}))
      select coalesce(e.account_id, s.account_id) as subject
      from due e full join sums s on s.account_id = e.account_id and s.entry = e.seq
      where e.seq is null or not e.of_calls and s.calls > 0
        or e.of_calls and e.since >= ${KEPT_FROM} + ${LATER}
          and (e.amount <> -coalesce(s.cost, 0) or e.seq - e.previous <> coalesce(s.calls, 0))
      union all select account_id from strays`,
    // A charge after the present state of its account is in no part of a ledger.
    times: (slice) => `
      select coalesce(a.id, c.account_id) as subject from calls c left join accounts a on a.id = c.account_id
      where c.seq is not null and ${during('c.created_at', slice)} and a.id is null`,
  },
  {
    name: 'I2-former',
    guarantee:
      'Up to version 1.1, every charge has its own ledger entry with the same amount, account and prices, and vice versa.',
    accounts: (slice) => `with ${partsOf(slice)}
      select l.event_id as subject
      from parts p
        cross join ${entriesOfPart('l.*', `l.event_id is not null and l.created_at >= ${KEPT_FROM}`)} l
        left join lateral (
          select u.id, u.cost, u.price_in, u.price_out from usage_events u
          where u.id = l.event_id and u.account_id = l.account_id and u.created_at = l.created_at and u.seq is null
          offset 0) u on true
      where (u.id is null or u.cost <> -l.amount or l.price_in <> u.price_in or l.price_out <> u.price_out)`,
    times: (slice) => `
      select u.id as subject from usage_events u
      where ${during('u.created_at', slice)} and u.seq is null and u.cost <> 0 and u.created_at >= ${KEPT_FROM}
        and not exists (
          select from ledger_entries l where l.id = u.id and l.event_id = u.id and l.created_at = u.created_at offset 0)`,
  },
  {
    name: 'I4',
    guarantee:
      'A balance is the sum of its ledger and of the charges after it, and every ledger has its account.',
    state: `with recursive ledgers (id) as (
        (select account_id from ledger_entries order by account_id limit 1)
        union all
        select (select l.account_id from ledger_entries l where l.account_id > b.id order by l.account_id limit 1)
        from ledgers b where b.id is not null)
      select id as subject from ledgers b where b.id is not null and not exists (select from accounts a where a.id = b.id)`,
    accounts: (slice) => `with ${partsOf(slice)}
      select p.account_id as subject
      from parts p join accounts a on a.id = p.account_id ${NEWEST}
      where p.is_open and (a.ledger_seq < coalesce(n.seq, 0) or a.balance
        <> p.total + coalesce((select sum(amount) from ${entriesOfPart('l.amount')} e), 0)
          - coalesce((
            select sum(c.cost) from calls c
            where c.account_id = p.account_id and c.seq > coalesce(n.seq, 0)
              and c.created_at >= coalesce(n.created_at, '-infinity') - ${slice.late}), 0))`,
  },
  {
    name: 'I6-chain',
    guarantee: 'The running balance has no gaps or jumps.',
    accounts: (slice) => `with ${chainOf(slice)}
      select id as subject from entries
      where balance_after <> before + amount
        or previous < start or case when of_calls then seq <= previous else seq <> previous + 1 end`,
  },
  {
    name: 'I6-calls',
    guarantee: 'The balance after each call follows from the one before, without a gap.',
    accounts: (slice) => `with ${partsOf(slice)}, ${chargesOf(slice)}
      select c.id as subject from (
        select account_id, id, seq, cost, balance_after, lag(seq) over w as previous, lag(balance_after) over w as before
        from charges window w as (partition by account_id order by seq)) c
      where case when previous = seq - 1 then balance_after <> before - cost
        else balance_after + cost <> coalesce((
          select l.balance_after from ledger_entries l where l.account_id = c.account_id and l.seq = c.seq - 1),
          case when c.seq = 1 then 0 when c.previous is null then balance_after + cost end, balance_after) end`,
  },
];
