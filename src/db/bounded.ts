import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { inTime } from '../lib/in-time.js';

/**
 * What every connection of ours asks the server for: a transaction whose process froze or forgot it ends, and with it its
 * locks. No transaction of ours waits for anything but the database, or for longer than a migration's other connection.
 */
export const SESSION_LIMITS = { idle_in_transaction_session_timeout: 30_000 };

export interface Question {
  name?: string;
  text: string;
  values?: unknown[];
}

/**
 * A connection of the pool, or an error after `timeoutMs`; the pool may be without a time limit of its own.
 * @throws Error
 */
export function connectWithin(pool: Pool, timeoutMs: number): Promise<PoolClient> {
  const connecting = pool.connect();
  return inTime(connecting, timeoutMs, () => {
    connecting.then((client) => client.release()).catch(() => undefined);
    return new Error(`no database connection within ${timeoutMs} ms`);
  });
}

/**
 * A query that fails when its answer doesn't come: the statement timeout is the server's, and a frozen server says
 * nothing at all. The connection is good for nothing then.
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
 * One query on a connection of the pool, both within `timeoutMs`.
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
