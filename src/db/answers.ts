import pg from 'pg';
import { SESSION_LIMITS } from './bounded.js';

const ANSWER_MS = 2_000;

/**
 * Whether a database accepts a connection and answers a query, each within two seconds.
 * @param isPooler a pooler refuses the limits of a session
 */
export async function answers(connectionString: string, isPooler = false): Promise<boolean> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    ...SESSION_LIMITS,
    ...(isPooler && { idle_in_transaction_session_timeout: undefined }),
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
