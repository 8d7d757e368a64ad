import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { queryWithin } from './bounded.js';
import { pgPool } from './connection.js';
import { SCHEMA_VERSION } from './schema-version.js';

/** Frequent callers share a result of at most this age. */
const CACHE_MS = 1_000;
/** Below the 5 s after which everything else gives up: a frozen server is away too. */
const TIMEOUT_MS = 3_000;

const QUESTION = {
  text: 'select 1 as current from mikro_orm_migrations where name = $1',
  values: [SCHEMA_VERSION],
};

/**
 * Makes the question whether the database answers with this build's schema, within 3 s. Cheap enough for any number of
 * probes: one query a second at most. It never rejects.
 */
export function databaseReadiness(
  orm: MikroORM,
  { cacheMs = CACHE_MS, timeoutMs = TIMEOUT_MS }: { cacheMs?: number; timeoutMs?: number } = {},
): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  let expiresAt = Number.POSITIVE_INFINITY;

  const ask = async (): Promise<boolean> => {
    // The first use of MikroORM's pool connects, with a patience of its own.
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
