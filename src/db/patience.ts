import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, PoolClient } from 'pg';
import { inTime } from '../lib/in-time.js';

/** Milliseconds after which the server ends a statement (requirement F9). */
export const STATEMENT_TIMEOUT_MS = 5_000;
/** A server that lives says what became of the statement within this; one that is frozen says nothing, ever. */
const MARGIN_MS = 500;
/** The driver's message for it. `lib/database-outage.ts` recognizes an outage by it. */
const READ_TIMEOUT = 'Query read timeout';

/** What work that may take longer allows itself. */
const allowed = new AsyncLocalStorage<number>();

/**
 * Runs work whose statements may take `timeoutMs` each: it tells the server so itself, by `statement_timeout`; this is
 * our side of it.
 */
export function patiently<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  return allowed.run(timeoutMs + MARGIN_MS, work);
}

interface Query {
  text: string;
  query_timeout?: number;
}

/**
 * Guards a pool's connection for as long as it lives:
 * - Every query that stays without an answer is given up, and the connection with it: what would be sent behind it, a
 *   rollback first of all, would wait as long again.
 * - A connection that is lost leaves the pool, whoever holds it. Kysely gives one back only after a `begin` or a
 *   `rollback` that succeeds, so that each outage would cost the pool some of its places for good.
 */
export function guardConnection(client: PoolClient): void {
  // The query under way tells; without a listener the process would end.
  client.on('error', () => undefined);
  client.once('end', () => takeBack(client));
  const ask = client.query as (...args: unknown[]) => unknown;
  const bounded = (query: Query | string | { submit: unknown }, ...rest: unknown[]): unknown => {
    // Cursors have a course of their own.
    if (typeof query === 'object' && 'submit' in query) return ask.call(client, query, ...rest);
    const { query_timeout: asked, ...config } = typeof query === 'string' ? { text: query } : query;
    const timeoutMs = asked ?? allowed.getStore() ?? STATEMENT_TIMEOUT_MS + MARGIN_MS;
    // Only the driver can end what reports to a callback.
    if (typeof rest.at(-1) === 'function') {
      return ask.call(client, { ...config, query_timeout: timeoutMs }, ...rest);
    }
    // In place of the driver's own limit, which ignores what arrived while the process stood still.
    return inTime(ask.call(client, config, ...rest) as Promise<unknown>, timeoutMs, () => {
      hangUp(client);
      return new Error(READ_TIMEOUT);
    });
  };
  client.query = bounded as typeof client.query;
}

/** With a query under way the driver cuts the socket, and from now on it refuses everything else at once. */
function hangUp(client: PoolClient): void {
  (client as unknown as Client).end().catch(() => undefined);
}

function takeBack(client: PoolClient): void {
  const { release } = client;
  // Whoever still holds it may give it back as well.
  client.release = () => undefined;
  try {
    release(new Error('the connection was lost'));
  } catch {
    // It was given back before.
  }
}
