import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { formatTimestamp } from '../../lib/clock.js';
import { formatDecimal } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import type { LedgerEntryOutput } from './billing.outputs.js';

interface Row extends Omit<LedgerEntryOutput, 'created_at'> {
  created_ms: number;
}

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
    select id, kind, amount::text as amount_usd, balance_after::text as balance_after_usd, description, event_id,
      floor(extract(epoch from created_at) * 1000)::float8 as created_ms
    from ledger_entries
    where account_id = ${accountId}
      and seq <= (select ledger_seq from accounts where id = ${accountId}) - ${offset}::bigint
    order by seq desc limit ${limit}`.execute(em.getKysely());
  return found.rows.map(({ created_ms, ...row }) => ({
    ...row,
    amount_usd: formatDecimal(row.amount_usd),
    balance_after_usd: formatDecimal(row.balance_after_usd),
    created_at: formatTimestamp(created_ms),
  }));
}
