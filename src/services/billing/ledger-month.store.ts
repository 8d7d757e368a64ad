import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { LedgerEntry } from '../../entities/billing/ledger-entry.js';
import { formatMoney, parseMoney } from '../../lib/money.js';
import { dirtyHoursOf } from '../analytics/dirty-hours-of-account.js';
import { chargesPerDay } from '../analytics/usage-sums.store.js';
import type { LedgerMonthOutput } from './billing.outputs.js';
import { ledgerRows, toLedgerEntry } from './ledger-list.store.js';

/** Maximum number of entries other than charges on one page. */
const MOST_CREDITS = 500;

/**
 * A period of an account's ledger, with the charges of each day as one entry. They are summed from the roll-ups of
 * usage, which the audit compares with the ledger: a month of a large account has millions of entries.
 */
export async function ledgerBetween(
  em: EntityManager,
  accountId: string,
  { from, until }: { from: Date; until: Date },
): Promise<LedgerMonthOutput> {
  const dirty = await dirtyHoursOf({ em }, accountId);
  const charges = await chargesPerDay(em, { accountId, from, until, dirty });
  const within = sql`e.kind <> 'usage' and e.created_at >= ${from.toISOString()} and e.created_at < ${until.toISOString()}`;
  const credits = await ledgerRows(em, accountId, within, { limit: MOST_CREDITS + 1 });
  const first = await em.findOne(
    LedgerEntry,
    { accountId },
    { ...UNTRACKED, fields: ['createdAt'], orderBy: { seq: 'asc' } },
  );
  return {
    charges: charges.map(({ day, calls, cost }) => ({
      date: day,
      calls,
      amount_usd: formatMoney(-parseMoney(cost)),
    })),
    credits: credits.slice(0, MOST_CREDITS).map(toLedgerEntry),
    credits_truncated: credits.length > MOST_CREDITS,
    has_older: first !== null && first.createdAt < from,
  };
}
