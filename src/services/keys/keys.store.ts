import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { ApiKey } from '../../entities/keys/api-key.js';
import { formatTimestamp, utcDay, utcMonth } from '../../lib/clock.js';
import { type ConnectionPage, pageOfRows, sequenceCursor, timeCursor } from '../../lib/connection-input.js';
import { formatDecimal } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import { isAfter } from '../list-position.store.js';
import type { KeysConnectionInput } from './keys.inputs.js';
import type { KeyOutput } from './keys.outputs.js';

type GuardFields = 'guard' | 'guard_status' | 'guard_acted_at';

interface Row extends Omit<KeyOutput, 'created_at' | 'last_used_at' | GuardFields> {
  guard: NonNullable<KeyOutput['guard']> | null;
  /** Whether its action of this month was undone; null if it hasn't acted. */
  guard_undone: boolean | null;
  guard_acted_ms: number | null;
  /** Microseconds. */
  created_us: string;
  last_used_ms: number | null;
  created_at: unknown;
}

/** Keys of an account, newest first, with the spend of the UTC day and month of `now` (milliseconds). */
export async function listKeys(
  em: EntityManager,
  { accountId, now, limit, offset }: { accountId: string; now: number } & PageInput,
): Promise<KeyOutput[]> {
  const rows = await selectKeys(
    em,
    now,
    sql`where k.account_id = ${accountId}
      order by k.created_at desc, k.id desc limit ${limit} offset ${offset}::bigint`,
    sql`order by k.created_at desc, k.id desc`,
  );
  return rows.map(toKey);
}

const ORDERS: Record<KeysConnectionInput['order_by'], RawBuilder<unknown>> = {
  created: sql`k.created_at desc`,
  name: sql`lower(k.name), k.created_at desc`,
  spend: sql`spend_month_usd::numeric desc, k.created_at desc`,
  used: sql`last_used_ms desc nulls last, k.created_at desc`,
};

/**
 * A page of the keys that match a search. The newest-first order uses cursors by position; the other orders change
 * while clients page through them, and use numbered pages.
 */
export async function pageKeys(
  em: EntityManager,
  {
    accountId,
    now,
    first,
    after,
    search,
    order_by: order,
  }: { accountId: string; now: number } & KeysConnectionInput,
): Promise<ConnectionPage<KeyOutput>> {
  const position = typeof after === 'object' ? after : undefined;
  const skipped = Number(typeof after === 'string' ? after : 0);
  const rows = await selectKeys(
    em,
    now,
    sql`where k.account_id = ${accountId} ${found(search)} ${position ? sql`and ${isAfter('k', position)}` : sql``}`,
    sql`order by ${ORDERS[order]}, k.id desc limit ${first + 1} offset ${skipped}::bigint`,
  );
  let number = skipped;
  return pageOfRows(rows, first, (row) => {
    number += 1;
    const cursor =
      order === 'created'
        ? timeCursor({ createdUs: row.created_us, id: row.id })
        : sequenceCursor(String(number));
    return { cursor, node: toKey(row) };
  });
}

/** The number of an account's keys that match a search. */
export async function countFoundKeys(
  em: EntityManager,
  accountId: string,
  search: string | null | undefined,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::float8 as n from api_keys k where k.account_id = ${accountId} ${found(search)}`.execute(
    em.getKysely(),
  );
  return rows[0]!.n;
}

const found = (search: string | null | undefined): RawBuilder<unknown> =>
  search
    ? sql`and strpos(lower(concat(k.name, ' ', k.key_prefix, '…', k.last_four)), lower(${search})) > 0`
    : sql``;

/** Whether the account has this key. `keyId` must be a UUID. */
export async function ownsKey(
  em: EntityManager,
  { accountId, keyId }: { accountId: string; keyId: string },
): Promise<boolean> {
  return (await ownedKeys(em, { accountId, ids: [keyId] })).length > 0;
}

/** Those of the ids that are keys of the account. Each must be a UUID. */
export async function ownedKeys(
  em: EntityManager,
  { accountId, ids }: { accountId: string; ids: readonly string[] },
): Promise<string[]> {
  const owned = { id: { $in: [...ids] }, accountId };
  const keys = await em.find(ApiKey, owned, { ...UNTRACKED, fields: ['id'] });
  return keys.map(({ id }) => id);
}

/** One key of an account; undefined also for another account's key. `id` must be a UUID. */
export async function findKey(
  em: EntityManager,
  { accountId, id, now }: { accountId: string; id: string; now: number },
): Promise<KeyOutput | undefined> {
  const keys = await findKeys(em, { accountId, ids: [id], now });
  return keys[0];
}

/** The keys of these ids that are the account's, in no particular order. Each id must be a UUID. */
export async function findKeys(
  em: EntityManager,
  { accountId, ids, now }: { accountId: string; ids: readonly string[]; now: number },
): Promise<KeyOutput[]> {
  const rows = await selectKeys(
    em,
    now,
    sql`where k.id = any(${ids}::uuid[]) and k.account_id = ${accountId}`,
  );
  return rows.map(toKey);
}

export interface DailyKeySpend {
  key_id: string;
  /** UTC, `YYYY-MM-DD`. */
  day: string;
  spend: string;
}

/** Spend per UTC day from `firstDay` on, of those keys that are the account's. Days without spend are absent. */
export async function listKeySpendDays(
  em: EntityManager,
  { accountId, ids, firstDay }: { accountId: string; ids: readonly string[]; firstDay: string },
): Promise<DailyKeySpend[]> {
  const { rows } = await sql<DailyKeySpend>`
    select s.key_id, s.day::text, s.spend::text
    from api_keys k join key_spend_days s on s.key_id = k.id
    where k.id = any(${ids}::uuid[]) and k.account_id = ${accountId} and s.day >= ${firstDay}::date
      and s.spend > 0
    `.execute(em.getKysely());
  return rows;
}

async function selectKeys(
  em: EntityManager,
  now: number,
  which: RawBuilder<unknown>,
  order: RawBuilder<unknown> = sql``,
): Promise<Row[]> {
  const read = await sql<Row>`select * from (
    select k.id, k.name, k.key_prefix, k.last_four, k.status, k.monthly_limit_usd::text, k.daily_limit_usd::text,
      coalesce(day.spend, 0)::text as spend_today_usd, key_month_spend(k.id, ${utcMonth(now)})::text as spend_month_usd,
      k.virtual_key_sealed is not null as has_upstream,
      case when g.key_id is not null then json_build_object(
        'at_pct', g.at_pct, 'action', g.action, 'model_public_name', g.model_public_name) end as guard,
      case when g.acted_month = ${utcMonth(now)} then g.undone end as guard_undone,
      case when g.acted_month = ${utcMonth(now)}
        then floor(extract(epoch from g.acted_at) * 1000)::float8 end as guard_acted_ms,
      floor(extract(epoch from (
        select last_used_at from key_spend_days d where d.key_id = k.id and last_used_at is not null
        order by day desc limit 1)) * 1000)::float8 as last_used_ms,
      (extract(epoch from k.created_at) * 1000000)::bigint::text as created_us, k.created_at
    from api_keys k
    left join key_guards g on g.key_id = k.id
    left join key_spend_days day on day.key_id = k.id and day.day = ${utcDay(now)}::date
    ${which}) k ${order}`.execute(em.getKysely());
  return read.rows;
}

function toKey(read: Row): KeyOutput {
  const { created_us, last_used_ms, created_at: _at, guard_undone: _undone, guard_acted_ms, ...row } = read;
  return {
    ...row,
    guard_status: guardStatus(read),
    guard_acted_at: guard_acted_ms === null ? null : formatTimestamp(guard_acted_ms),
    monthly_limit_usd: row.monthly_limit_usd && formatDecimal(row.monthly_limit_usd),
    daily_limit_usd: row.daily_limit_usd && formatDecimal(row.daily_limit_usd),
    spend_today_usd: formatDecimal(row.spend_today_usd),
    spend_month_usd: formatDecimal(row.spend_month_usd),
    last_used_at: last_used_ms === null ? null : formatTimestamp(last_used_ms),
    created_at: formatTimestamp(Math.floor(Number(created_us) / 1000)),
  };
}

function guardStatus({ guard, monthly_limit_usd, guard_undone }: Row): KeyOutput['guard_status'] {
  if (guard === null || monthly_limit_usd === null) return 'off';
  if (guard_undone === null) return 'armed';
  return guard_undone ? 'undone' : 'acting';
}

/** The number of an account's keys. */
export function countKeys(em: EntityManager, accountId: string): Promise<number> {
  return em.count(ApiKey, { accountId });
}

/** Maximum number of deleted keys of an account whose calls are still counted; older ones are unknown keys. */
const REMEMBERED_KEYS = 100;

/**
 * Deletes a key. Its name and hash are kept, so that calls with it are counted for their owner. Needs a transaction.
 * @returns the sealed virtual key of the deleted row (null for none); undefined when there was no such key.
 */
export async function deleteKey(
  em: EntityManager,
  { accountId, id, now }: { accountId: string; id: string; now: number },
): Promise<string | null | undefined> {
  const db = em.getKysely();
  const deleted = await sql<{ virtual_key_sealed: string | null }>`
    with gone as (
      delete from api_keys where id = ${id} and account_id = ${accountId}
      returning id, account_id, name, key_hash, virtual_key_sealed
    ), kept as (
      insert into deleted_api_keys (id, account_id, name, key_hash, deleted_at)
      select id, account_id, name, key_hash, ${new Date(now)} from gone
    )
    select virtual_key_sealed from gone`.execute(db);
  await sql`
    delete from deleted_api_keys where id in (
      select id from deleted_api_keys where account_id = ${accountId}
      order by deleted_at desc offset ${REMEMBERED_KEYS})`.execute(db);
  return deleted.rows[0]?.virtual_key_sealed;
}
