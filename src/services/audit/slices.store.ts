import type { AccountPart } from './account-slice.rules.js';
import type { Query } from './invariant.js';
import type { Position } from './position.js';

/** A part of an account to check, and about how many charges it has. */
export interface AuditCandidate extends AccountPart {
  charges: number;
}

/** Hours whose sizes are read at once. */
const HOURS = 1_000;

/** The number of calls of the hours from `from` on, as they are rolled up. */
export async function readHours(
  query: Query,
  from: string,
): Promise<{ sizes: { ms: number; calls: number }[]; areAll: boolean }> {
  const sizes = await query<{ ms: number; calls: number }>(`
    select (extract(epoch from hour) * 1000)::float8 as ms, sum(successes + errors)::float8 as calls
    from model_hours where hour >= '${from}' group by hour order by hour limit ${HOURS}`);
  return { sizes, areAll: sizes.length < HOURS };
}

interface Limits {
  accounts: number;
  charges: number;
}

/** Accounts `a`, each from `start` on; of a large one, only the next part. */
const candidates = (start: string, total: string, where: string, { accounts, charges }: Limits): string => `
  select a.id as "accountId", s.start::text as start, s.total::text as total,
    least(a.ledger_seq - s.start, ${charges})::float8 as charges, coalesce(part.seq, newest.seq, 0)::text as end,
    part.seq is null or part.seq = newest.seq as "isOpen"
  from accounts a
    cross join lateral (select ${start} as start, ${total} as total offset 0) s
    left join lateral (
      select seq from ledger_entries where account_id = a.id order by seq desc limit 1) newest on true
    left join lateral (
      select seq from ledger_entries
      where a.ledger_seq - s.start > ${charges} and account_id = a.id and seq >= s.start + ${charges}
      order by seq limit 1) part on true
  where ${where} order by a.id limit ${accounts}`;

/** The accounts after a position. */
export function readAccounts(
  query: Query,
  { account, start, total }: Position,
  limits: Limits,
): Promise<AuditCandidate[]> {
  if (start === null) return query(candidates('0', '0', `a.id > '${account}'`, limits));
  const ifRest = (value: string) => `case when a.id = '${account}' then ${value} else 0 end`;
  return query(candidates(ifRest(start), ifRest(total), `a.id >= '${account}'`, limits));
}

/** Accounts after an id whose ledger or balance has changed since it was sealed. */
export function readUnsealed(query: Query, after: string, limits: Limits): Promise<AuditCandidate[]> {
  const sealed = (column: string) =>
    `coalesce((select ${column} from audit_seals where account_id = a.id), 0)`;
  const where = `a.id > '${after}' and (a.ledger_seq <> s.start or a.balance <> s.total)`;
  return query(candidates(sealed('seq'), sealed('total'), where, limits));
}

/** Where the parts of accounts end, with the sums of their amounts up to there. */
export const totalsOf = (
  query: Query,
  parts: readonly AccountPart[],
): Promise<{ accountId: string; start: string; total: string }[]> =>
  query(`
    select p.account_id as "accountId", p.until::text as start, (p.total + coalesce((
      select sum(l.amount) from ledger_entries l
      where l.account_id = p.account_id and l.seq > p.start and l.seq <= p.until), 0))::text as total
    from (values ${parts.map(({ accountId, start, total, end }, nth) => `('${accountId}'::uuid, ${start}::bigint, ${total}::numeric, ${end}::bigint, ${nth})`).join(', ')})
      as p (account_id, start, total, until, nth)
    order by nth`);
