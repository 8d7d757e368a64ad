import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { inTime } from '../lib/in-time.js';

/**
 * Settings of all our connections. The server ends a transaction whose process froze or forgot it, and so releases its locks.
 * Our transactions wait for nothing but the database, at most as long as for a migration on another connection.
 */
export const SESSION_LIMITS = { idle_in_transaction_session_timeout: 30_000 };

export interface Question {
  name?: string;
  text: string;
  values?: unknown[];
}

/**
 * Takes a connection from the pool, which may have no timeout itself.
 * @throws Error after `timeoutMs`
 */
export function connectWithin(pool: Pool, timeoutMs: number): Promise<PoolClient> {
  const connecting = pool.connect();
  return inTime(connecting, timeoutMs, () => {
    connecting.then((client) => client.release()).catch(() => undefined);
    return new Error(`no database connection within ${timeoutMs} ms`);
  });
}

/**
 * Sends a query that fails after `timeoutMs` without a response, because a frozen server can't enforce the statement
 * timeout. The connection is unusable afterwards.
 * @throws Error
 */
export function askWithin<Row extends object>(
  client: PoolClient,
  question: Question | string,
  timeoutMs: number,
): Promise<QueryResult<Row & QueryResultRow>> {
  const config = typeof question === 'string' ? { text: question } : question;
  return client.query<Row & QueryResultRow>({ ...config, query_timeout: timeoutMs } as Question);
}

/**
 * Runs one query on a connection of the pool, both within `timeoutMs`.
 * @throws Error
 */
export async function queryWithin<Row extends object>(
  pool: Pool,
  question: Question,
  timeoutMs: number,
): Promise<Row[]> {
  const began = performance.now();
  const client = await connectWithin(pool, timeoutMs);
  try {
    const left = Math.max(1, Math.ceil(timeoutMs - (performance.now() - began)));
    const { rows } = await askWithin<Row>(client, question, left);
    client.release();
    return rows;
  } catch (error) {
    client.release(error as Error);
    throw error;
  }
}
