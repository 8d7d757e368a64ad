import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import type { LedgerKind } from '../../entities/billing/ledger-entry.js';
import { formatTimestamp } from '../../lib/clock.js';
import {
  type ConnectionPage,
  pageOfRows,
  type SequenceConnectionInput,
  sequenceCursor,
} from '../../lib/connection-input.js';
import { formatDecimal } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import type { LedgerEntryOutput } from './billing.outputs.js';

/** An entry of a ledger. Amounts are in dollars. */
export interface LedgerRow {
  id: string;
  seq: string;
  kind: LedgerKind;
  amount: string;
  balance_after: string;
  description: string | null;
  event_id: string | null;
  created_ms: number;
  /** Charges of calls that the entry contains; null for other kinds. */
  calls: number | null;
}

/** Charges of calls, or everything else. */
export type LedgerKinds = 'credits' | 'charges';

/**
 * The entries of all ledgers. The charges after an account's newest entry are an entry as well, which grows until it is written:
 * once an hour, or before the next credit.
 */
const ENTRIES = sql`(
  select id, account_id, seq, kind, amount, balance_after, description, event_id, created_at from ledger_entries
  union all
  select ledger_entry_id(a.id, coalesce(l.seq, 0) + 1), a.id, a.ledger_seq, 'usage', a.balance - coalesce(l.balance_after, 0),
    a.balance, null, null, coalesce((select max(c.created_at) from calls c where c.account_id = a.id), now())
  from accounts a left join lateral (
    select seq, balance_after from ledger_entries where account_id = a.id order by seq desc limit 1) l on true
  where a.ledger_seq > coalesce(l.seq, 0))`;

/** Entries of an account, newest first. */
export async function ledgerRows(
  em: EntityManager,
  accountId: string,
  where: RawBuilder<unknown>,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Promise<LedgerRow[]> {
  const { rows } = await sql<LedgerRow>`
    select e.id, e.seq::text, e.kind, e.amount::text, e.balance_after::text, e.description, e.event_id,
      (extract(epoch from e.created_at) * 1000)::float8 as created_ms,
      case when e.kind = 'usage' then (e.seq - coalesce((
        select max(l.seq) from ledger_entries l where l.account_id = e.account_id and l.seq < e.seq), 0))::float8 end as calls
    from ${ENTRIES} e where e.account_id = ${accountId} and ${where}
    order by e.seq desc offset ${offset} limit ${limit}`.execute(em.getKysely());
  return rows;
}

/**
 * Entries of an account, newest first. Up to `dense_seq`, each place of the sequence has its entry, so an offset is a
 * subtraction there. After it, there are about 24 a day.
 */
export async function listLedger(
  em: EntityManager,
  accountId: string,
  { limit, offset }: PageInput,
): Promise<LedgerEntryOutput[]> {
  const { dense, later } = await sizeOf(em, accountId);
  const rows =
    offset < later
      ? await ledgerRows(em, accountId, sql`true`, { limit, offset })
      : await ledgerRows(em, accountId, sql`e.seq <= ${dense - (offset - later)}::bigint`, { limit });
  return rows.map(toLedgerEntry);
}

/** A page of entries by cursor. */
export async function pageLedger(
  em: EntityManager,
  accountId: string,
  { first, after }: SequenceConnectionInput,
): Promise<ConnectionPage<LedgerEntryOutput>> {
  const rows = await ledgerRowsAfter(em, accountId, { after, limit: first + 1 });
  return pageOfRows(rows, first, (row) => ({ cursor: sequenceCursor(row.seq), node: toLedgerEntry(row) }));
}

/** Entries of an account before a place in its sequence, newest first. */
export async function ledgerRowsAfter(
  em: EntityManager,
  accountId: string,
  { after, kinds, limit }: { after?: string | undefined; kinds?: LedgerKinds | undefined; limit: number },
): Promise<LedgerRow[]> {
  const before = after === undefined ? sql`true` : sql`e.seq < ${after}::bigint`;
  const ofKind = { charges: sql`e.kind = 'usage'`, credits: sql`e.kind <> 'usage'` };
  return ledgerRows(em, accountId, sql`${before} and ${kinds ? ofKind[kinds] : sql`true`}`, { limit });
}

/** The number of entries of an account. */
export async function countLedger(em: EntityManager, accountId: string): Promise<number> {
  const { dense, later } = await sizeOf(em, accountId);
  return dense + later;
}

/** How many entries there are up to `dense_seq`, and after it. */
async function sizeOf(em: EntityManager, accountId: string): Promise<{ dense: number; later: number }> {
  const { rows } = await sql<{ dense: number; later: number }>`
    select a.dense_seq::float8 as dense, (
      select count(*) from ${ENTRIES} e where e.account_id = ${accountId} and e.seq > a.dense_seq)::float8 as later
    from accounts a where a.id = ${accountId}`.execute(em.getKysely());
  return rows[0] ?? { dense: 0, later: 0 };
}

export function toLedgerEntry(row: LedgerRow): LedgerEntryOutput {
  return {
    id: row.id,
    kind: row.kind,
    amount_usd: formatDecimal(row.amount),
    balance_after_usd: formatDecimal(row.balance_after),
    description: row.description,
    event_id: row.event_id,
    created_at: formatTimestamp(row.created_ms),
    calls: row.calls,
  };
}
