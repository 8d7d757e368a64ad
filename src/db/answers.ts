import { DatabaseClient } from './client.js';
import { sessionSettings } from './session-settings.js';

const ANSWER_MS = 2_000;

/**
 * Whether a database accepts a connection and answers a query, each within two seconds.
 * @param pooled Whether the address belongs to a pooler.
 */
export async function answers(connectionString: string, pooled = false): Promise<boolean> {
  const client = new DatabaseClient({
    connectionString,
    pooled,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    ...sessionSettings(pooled),
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
