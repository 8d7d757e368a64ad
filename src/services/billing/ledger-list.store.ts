import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
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

interface Row extends Omit<LedgerEntryOutput, 'created_at'> {
  /** `seq`. */
  place: string;
  created_ms: number;
}

const columns = sql`id, seq::text as place, kind, amount::text as amount_usd, balance_after::text as balance_after_usd,
  description, event_id, floor(extract(epoch from created_at) * 1000)::float8 as created_ms`;

/**
 * Entries of an account, newest first. `seq` has no gap, so that an offset is a subtraction: page ten thousand
 * costs what the first one costs.
 */
export async function listLedger(
  em: EntityManager,
  accountId: string,
  { limit, offset }: PageInput,
): Promise<LedgerEntryOutput[]> {
  const found = await sql<Row>`
    select ${columns}
    from ledger_entries
    where account_id = ${accountId}
      and seq <= (select ledger_seq from accounts where id = ${accountId}) - ${offset}::bigint
    order by seq desc limit ${limit}`.execute(em.getKysely());
  return found.rows.map(toEntry);
}

/** The same by position. */
export async function pageLedger(
  em: EntityManager,
  accountId: string,
  { first, after }: SequenceConnectionInput,
): Promise<ConnectionPage<LedgerEntryOutput>> {
  const { rows } = await sql<Row>`
    select ${columns}
    from ledger_entries
    where account_id = ${accountId} ${after === undefined ? sql`` : sql`and seq < ${after}::bigint`}
    order by seq desc limit ${first + 1}`.execute(em.getKysely());
  return pageOfRows(rows, first, (row) => ({ cursor: sequenceCursor(row.place), node: toEntry(row) }));
}

/** How many entries an account has: `seq` counts them. */
export async function countLedger(em: EntityManager, accountId: string): Promise<number> {
  const { rows } = await sql<{ n: string }>`
    select ledger_seq::text as n from accounts where id = ${accountId}`.execute(em.getKysely());
  return Number(rows[0]?.n ?? 0);
}

function toEntry({ place: _place, created_ms, ...row }: Row): LedgerEntryOutput {
  return {
    ...row,
    amount_usd: formatDecimal(row.amount_usd),
    balance_after_usd: formatDecimal(row.balance_after_usd),
    created_at: formatTimestamp(created_ms),
  };
}
