/** A part of an account's ledger: the entries after the place `start`, which is proven, up to the place `end`. */
export interface AccountPart {
  accountId: string;
  start: string;
  /** The sum of the amounts up to `start`. */
  total: string;
  /** The place of an entry, or 0 without one. */
  end: string;
  /** Whether the part goes on to the account's present state: entries after `end`, charges after those, and the balance. */
  isOpen: boolean;
}

export interface AccountSlice {
  parts: readonly AccountPart[];
  /** How much earlier than the entry before them calls may have ended; they are written late after an outage. */
  late: string;
}

/** Where calls of a slice are looked for: first where nearly all are, then everywhere. */
export const LATE = `interval '1 hour'`;
export const LATER = `interval '3 days'`;
export const ANY_TIME = `interval '1000 years'`;

/** Beyond every place. */
const NO_END = '9223372036854775807';

/** The query `parts`: where each part begins and ends; `last` is also the end of what is read. */
export const partsOf = ({ parts }: AccountSlice): string => `
  parts (account_id, start, total, is_open, last) as materialized (values ${parts
    .map(
      ({ accountId, start, total, end, isOpen }) =>
        `('${accountId}'::uuid, ${start}::bigint, ${total}::numeric, ${isOpen}, ${isOpen ? NO_END : end}::bigint)`,
    )
    .join(', ')})`;

/** The new ledger entries `l` of the part `p`, as a table. */
export const entriesOfPart = (columns: string, condition = 'true'): string => `lateral (
  select ${columns} from ledger_entries l
  where l.account_id = p.account_id and l.seq > p.start and l.seq <= p.last and ${condition} offset 0)`;

/** Queries: `parts`, and `entries`, their new entries with the place, time and balance of the entry before. */
export const chainOf = (slice: AccountSlice): string => `${partsOf(slice)},
  entries as materialized (
    select * from (
      select p.start, e.*, lag(e.seq, 1, 0::bigint) over w as previous, lag(e.created_at, 1, '-infinity') over w as since,
        lag(e.balance_after, 1, 0) over w as before
      from parts p cross join lateral (
        select l.account_id, l.id, l.seq, l.kind = 'usage' and l.event_id is null as of_calls, l.amount, l.balance_after, l.created_at
        from ledger_entries l where l.account_id = p.account_id and l.seq >= p.start and l.seq <= p.last offset 0) e
      window w as (partition by e.account_id order by e.seq)) e
    where seq > start)`;

/** Queries after `parts`: when the calls of each part ended, and `charges`, those calls. */
export const chargesOf = (slice: AccountSlice): string => `
  stretches as materialized (
    select p.*,
      coalesce((select l.created_at from ledger_entries l where l.account_id = p.account_id and l.seq = p.start), '-infinity') as since,
      coalesce((select l.created_at from ledger_entries l where l.account_id = p.account_id and l.seq = p.last), 'infinity') as ends
    from parts p),
  charges as materialized (
    select c.* from stretches s cross join lateral (
      select c.account_id, c.id, c.seq, c.cost, c.balance_after from calls c
      where c.account_id = s.account_id and c.seq > s.start and c.seq <= s.last
        and c.created_at >= s.since - ${slice.late} and c.created_at <= s.ends + ${slice.late} offset 0) c)`;
