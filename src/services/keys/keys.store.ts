import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { formatTimestamp, utcDay, utcMonth } from '../../lib/clock.js';
import { formatDecimal } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import type { KeyOutput } from './keys.outputs.js';

interface Row extends Omit<KeyOutput, 'created_at' | 'last_used_at'> {
  created_ms: number;
  last_used_ms: number | null;
}

/** Keys of an account, newest first, with the spend of the UTC day and month of `now` (milliseconds). */
export async function listKeys(
  em: EntityManager,
  { accountId, now, limit, offset }: { accountId: string; now: number } & PageInput,
): Promise<KeyOutput[]> {
  return selectKeys(
    em,
    now,
    sql`where k.account_id = ${accountId}
      order by k.created_at desc, k.id desc limit ${limit} offset ${offset}::bigint`,
  );
}

/** One key of an account; undefined also when it is another's. `id` must have the form of a UUID. */
export async function findKey(
  em: EntityManager,
  { accountId, id, now }: { accountId: string; id: string; now: number },
): Promise<KeyOutput | undefined> {
  const keys = await selectKeys(em, now, sql`where k.id = ${id} and k.account_id = ${accountId}`);
  return keys[0];
}

async function selectKeys(em: EntityManager, now: number, which: RawBuilder<unknown>): Promise<KeyOutput[]> {
  const found = await sql<Row>`
    select k.id, k.name, k.key_prefix, k.last_four, k.status, k.monthly_limit_usd::text, k.daily_limit_usd::text,
      coalesce(day.spend, 0)::text as spend_today_usd, coalesce(month.spend, 0)::text as spend_month_usd,
      k.virtual_key_sealed is not null as has_upstream,
      floor(extract(epoch from k.last_used_at) * 1000)::float8 as last_used_ms,
      floor(extract(epoch from k.created_at) * 1000)::float8 as created_ms
    from api_keys k
    left join key_spend_days day on day.key_id = k.id and day.day = ${utcDay(now)}::date
    left join key_spend_months month on month.key_id = k.id and month.month = ${utcMonth(now)}
    ${which}`.execute(em.getKysely());
  return found.rows.map(({ created_ms, last_used_ms, ...row }) => ({
    ...row,
    monthly_limit_usd: row.monthly_limit_usd && formatDecimal(row.monthly_limit_usd),
    daily_limit_usd: row.daily_limit_usd && formatDecimal(row.daily_limit_usd),
    spend_today_usd: formatDecimal(row.spend_today_usd),
    spend_month_usd: formatDecimal(row.spend_month_usd),
    last_used_at: last_used_ms === null ? null : formatTimestamp(last_used_ms),
    created_at: formatTimestamp(created_ms),
  }));
}

/**
 * How many keys an account has. With `lock`, which needs a transaction, nobody else adds one until that ends; the
 * answer is undefined for an account that is deleted or disabled.
 */
export async function countKeys(
  em: EntityManager,
  accountId: string,
  { lock }: { lock: boolean },
): Promise<number | undefined> {
  const db = em.getKysely();
  const account = await sql`
    select 1 from accounts where id = ${accountId} and status = 'active' and deleted_at is null
    ${lock ? sql`for no key update` : sql``}`.execute(db);
  if (account.rows.length === 0) return undefined;
  const counted = await sql<{ n: number }>`
    select count(*)::int as n from api_keys where account_id = ${accountId}`.execute(db);
  return counted.rows[0]!.n;
}

/** @returns the sealed virtual key of the deleted row (null: it had none); undefined when there was no such key. */
export async function deleteKey(
  em: EntityManager,
  { accountId, id }: { accountId: string; id: string },
): Promise<string | null | undefined> {
  const deleted = await sql<{ virtual_key_sealed: string | null }>`
    delete from api_keys where id = ${id} and account_id = ${accountId}
    returning virtual_key_sealed`.execute(em.getKysely());
  return deleted.rows[0]?.virtual_key_sealed;
}
