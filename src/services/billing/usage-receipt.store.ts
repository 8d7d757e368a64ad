import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { formatDecimal } from '../../lib/money.js';
import type { UsageReceiptOutput } from './billing.outputs.js';
import { toUsageItem, type UsageColumns, usageColumns } from './usage.store.js';

type Row = UsageColumns & {
  price_in: string;
  price_out: string;
  ledger_entry_id: string | null;
  balance_before: string | null;
  balance_after: string | null;
};

/**
 * One event of an account with its charge; undefined also for another account's event. `id` must be a UUID.
 *
 * Calls are partitioned by time. The id contains the start of the call (UUIDv7), and no call takes a day. Up to version 1.1, a
 * charge had a ledger entry with the id of its call, which knows the exact time.
 */
export async function findReceipt(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<UsageReceiptOutput | undefined> {
  const began = new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
  const madeAt = began.getTime() < MOST_MS ? began.toISOString() : new Date(0).toISOString();
  const { rows } = await sql<Row>`
    with charge as materialized (
      select id, created_at, balance_after - amount as balance_before, balance_after from ledger_entries
      where id = ${id} and account_id = ${accountId} and event_id is not null)
    select ${usageColumns}, u.price_in::text, u.price_out::text,
      coalesce(charge.id, case when u.seq is not null then ledger_entry_id(u.account_id, 1 + coalesce((
        select max(l.seq) from ledger_entries l where l.account_id = u.account_id and l.seq < u.seq), 0)) end) as ledger_entry_id,
      coalesce(charge.balance_before, u.balance_after + u.cost)::text as balance_before,
      coalesce(charge.balance_after, u.balance_after)::text as balance_after
    from usage_events u left join charge on true
    where u.account_id = ${accountId} and u.id = ${id}
      and u.created_at >= coalesce((select created_at from charge), ${madeAt}::timestamptz - interval '1 minute')
      and u.created_at <= coalesce((select created_at from charge), ${madeAt}::timestamptz + interval '1 day')
    `.execute(em.getKysely());
  return rows[0] && toReceipt(rows[0]);
}

/** The end of the times that a database can store. */
const MOST_MS = Date.UTC(9999, 0, 1);

const decimalOrNull = (decimal: string | null): string | null => decimal && formatDecimal(decimal);

const toReceipt = (row: Row): UsageReceiptOutput => ({
  ...toUsageItem(row),
  input_price_per_million_usd: formatDecimal(row.price_in),
  output_price_per_million_usd: formatDecimal(row.price_out),
  ledger_entry_id: row.ledger_entry_id,
  balance_before_usd: decimalOrNull(row.balance_before),
  balance_after_usd: decimalOrNull(row.balance_after),
});
