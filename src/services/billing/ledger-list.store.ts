import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';
import { LedgerEntry } from '../../entities/billing/ledger-entry.js';
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

const NEWEST_FIRST = { ...UNTRACKED, orderBy: { seq: 'desc' } } as const;

/**
 * Entries of an account, newest first. `seq` has no gaps, so an offset is a subtraction and every page costs the
 * same.
 */
export async function listLedger(
  em: EntityManager,
  accountId: string,
  { limit, offset }: PageInput,
): Promise<LedgerEntryOutput[]> {
  const newest = raw('(select ledger_seq from accounts where id = ?) - ?::bigint', [accountId, offset]);
  const entries = await em.find(
    LedgerEntry,
    { accountId, seq: { $lte: newest } },
    { ...NEWEST_FIRST, limit },
  );
  return entries.map(toLedgerEntry);
}

/** A page of entries by cursor. */
export async function pageLedger(
  em: EntityManager,
  accountId: string,
  { first, after }: SequenceConnectionInput,
): Promise<ConnectionPage<LedgerEntryOutput>> {
  const entries = await ledgerRowsAfter(em, accountId, { after, limit: first + 1 });
  return pageOfRows(entries, first, (entry) => ({
    cursor: sequenceCursor(String(entry.seq)),
    node: toLedgerEntry(entry),
  }));
}

/** Charges of calls, or everything else. */
export type LedgerKinds = 'credits' | 'charges';

/** Entries of an account before a sequence number, newest first. */
export async function ledgerRowsAfter(
  em: EntityManager,
  accountId: string,
  { after, kinds, limit }: { after?: string | undefined; kinds?: LedgerKinds | undefined; limit: number },
): Promise<LedgerEntry[]> {
  const kind = kinds && (kinds === 'charges' ? ('usage' as const) : { $ne: 'usage' as const });
  return em.find(
    LedgerEntry,
    { accountId, ...(after !== undefined && { seq: { $lt: after } }), ...(kind && { kind }) },
    { ...NEWEST_FIRST, limit },
  );
}

/** The number of entries of an account, which `seq` counts. */
export async function countLedger(em: EntityManager, accountId: string): Promise<number> {
  const account = await em.findOne(Account, { id: accountId }, { ...UNTRACKED, fields: ['ledgerSeq'] });
  return Number(account?.ledgerSeq ?? 0);
}

export function toLedgerEntry(entry: LedgerEntry): LedgerEntryOutput {
  return {
    id: entry.id,
    kind: entry.kind,
    amount_usd: formatDecimal(entry.amount),
    balance_after_usd: formatDecimal(entry.balanceAfter),
    description: entry.description ?? null,
    event_id: entry.eventId ?? null,
    created_at: formatTimestamp(entry.createdAt.getTime()),
  };
}
