import type { Pool } from 'pg';
import { queryWithin } from '../db/bounded.js';
import type { Money } from '../lib/money.js';

/** The refused calls of one key, code, model and hour. */
export interface RefusedCount {
  accountId: string;
  keyId: string;
  code: string;
  model: string;
  /** Start of the hour, milliseconds. */
  hour: number;
  calls: number;
  /** Milliseconds. */
  lastAt: number;
  /** 0 unless the calls were answered. */
  cost: Money;
  /** Ids of the latest calls, the latest last; at most `MAX_IDS`. */
  ids: string[];
}

const TIMEOUT_MS = 5_000;
/** Ids kept per key, code, model and hour, so that a client that keeps calling in vain doesn't fill the table. */
export const MAX_IDS = 50;

/** Written in the order of the primary key, so that two edges don't deadlock. */
const TEXT = `
insert into refused_call_hours as r (account_id, hour, key_id, code, model, calls, last_at, ids)
select account_id, to_timestamp(hour_ms / 1000.0), key_id, code, model, calls, to_timestamp(last_ms / 1000.0), ids::uuid[]
from unnest($1::uuid[], $2::float8[], $3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::float8[], $8::text[])
  as t (account_id, hour_ms, key_id, code, model, calls, last_ms, ids)
order by 1, 2, 3, 4, 5
on conflict (account_id, hour, key_id, code, model) do update
set calls = r.calls + excluded.calls, last_at = greatest(r.last_at, excluded.last_at),
  ids = (excluded.ids || r.ids)[1:${MAX_IDS}]`;

/**
 * Adds counts to those in the database, in one statement.
 * @throws Error of the database, or after 5 s
 */
export async function addRefusedCalls(pool: Pool, counts: readonly RefusedCount[]): Promise<void> {
  const values = [
    counts.map(({ accountId }) => accountId),
    counts.map(({ hour }) => hour),
    counts.map(({ keyId }) => keyId),
    counts.map(({ code }) => code),
    counts.map(({ model }) => model),
    counts.map(({ calls }) => calls),
    counts.map(({ lastAt }) => lastAt),
    counts.map(({ ids }) => `{${ids.toReversed()}}`),
  ];
  await queryWithin(pool, { name: 'metering-refused-calls', text: TEXT, values }, TIMEOUT_MS);
}
