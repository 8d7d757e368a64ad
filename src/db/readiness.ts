import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { queryWithin } from './bounded.js';
import { pgPool } from './connection.js';
import { SCHEMA_VERSION } from './schema-version.js';

/** Maximum age of a shared result. */
const CACHE_MS = 1_000;
/** Less than the 5 s after which everything else gives up, so that a frozen server shows here first. */
const TIMEOUT_MS = 3_000;

const QUESTION = {
  text: `select 1 as current from mikro_orm_migrations
    where name = $1 and current_setting('transaction_read_only') = 'off'`,
  values: [SCHEMA_VERSION],
};

/**
 * Returns a function that checks whether the database responds within 3 s, has this build's schema, and takes writes. It sends at most one
 * query per second, however often it is called, and never rejects.
 */
export function databaseReadiness(
  orm: MikroORM,
  { cacheMs = CACHE_MS, timeoutMs = TIMEOUT_MS }: { cacheMs?: number; timeoutMs?: number } = {},
): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  let expiresAt = Number.POSITIVE_INFINITY;

  const ask = async (): Promise<boolean> => {
    // The first use of MikroORM's pool connects, which has a different timeout.
    const late = new AbortController();
    const tooLate = delay(timeoutMs, false, { signal: late.signal }).catch(() => false);
    try {
      return await Promise.race([current(orm, timeoutMs), tooLate]);
    } finally {
      late.abort();
      expiresAt = performance.now() + cacheMs;
    }
  };

  return () => {
    if (!answer || performance.now() > expiresAt) {
      expiresAt = Number.POSITIVE_INFINITY;
      answer = ask();
    }
    return answer;
  };
}

async function current(orm: MikroORM, timeoutMs: number): Promise<boolean> {
  try {
    return (await queryWithin(await pgPool(orm), QUESTION, timeoutMs)).length > 0;
  } catch {
    return false;
  }
}
