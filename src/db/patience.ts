import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, PoolClient } from 'pg';
import { inTime } from '../lib/in-time.js';

/** Milliseconds after which the server ends a statement (requirement F9). */
export const STATEMENT_TIMEOUT_MS = 5_000;
/** A live server reports the outcome of a timed-out statement within this time. A frozen one never does. */
const MARGIN_MS = 500;
/** The driver's message for a query without a response, by which `lib/database-outage.ts` recognizes an outage. */
const READ_TIMEOUT = 'Query read timeout';

/** The timeout of work that may take longer. */
const allowed = new AsyncLocalStorage<number>();

/**
 * Runs work whose statements may take `timeoutMs` each. This sets the client's timeout; the work sets the server's
 * `statement_timeout` itself.
 */
export function patiently<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  return allowed.run(timeoutMs + MARGIN_MS, work);
}

interface Query {
  text: string;
  query_timeout?: number;
}

/**
 * Guards a connection of a pool for its whole life:
 * - A query without a response is given up together with its connection, because the next statement, usually a rollback,
 *   would wait just as long.
 * - A lost connection is removed from the pool, even while it is in use. Kysely releases a connection only after a successful `begin` or
 *   `rollback`, so each outage would otherwise cost the pool some connections for good.
 */
export function guardConnection(client: PoolClient): void {
  // The query under way rejects; without a listener, the event would end the process.
  client.on('error', () => undefined);
  client.once('end', () => takeBack(client));
  const ask = client.query as (...args: unknown[]) => unknown;
  const bounded = (query: Query | string | { submit: unknown }, ...rest: unknown[]): unknown => {
    // Cursors aren't simple queries and handle their own timeouts.
    if (typeof query === 'object' && 'submit' in query) return ask.call(client, query, ...rest);
    const { query_timeout: asked, ...config } = typeof query === 'string' ? { text: query } : query;
    const timeoutMs = asked ?? allowed.getStore() ?? STATEMENT_TIMEOUT_MS + MARGIN_MS;
    // Only the driver can end a query with a callback.
    if (typeof rest.at(-1) === 'function') {
      return ask.call(client, { ...config, query_timeout: timeoutMs }, ...rest);
    }
    // Instead of the driver's timeout, which ignores a response that arrived while the process was frozen.
    return inTime(ask.call(client, config, ...rest) as Promise<unknown>, timeoutMs, () => {
      hangUp(client);
      return new Error(READ_TIMEOUT);
    });
  };
  client.query = bounded as typeof client.query;
}

/** With a query under way, `end` cuts the socket, and the driver refuses further queries at once. */
function hangUp(client: PoolClient): void {
  (client as unknown as Client).end().catch(() => undefined);
}

function takeBack(client: PoolClient): void {
  const { release } = client;
  // Its holder may still release it, too.
  client.release = () => undefined;
  try {
    release(new Error('the connection was lost'));
  } catch {
    // Already released.
  }
}
