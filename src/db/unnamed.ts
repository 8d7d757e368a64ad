import type { PoolClient } from 'pg';

/**
 * Makes a connection send its statements without names. A named statement belongs to a session, and a pooler in transaction
 * mode may run the next transaction in another one. There the name is unknown, or already taken after the pooler restarted.
 */
export function unname(client: PoolClient): void {
  const ask = client.query as (...args: unknown[]) => unknown;
  const unnamed = (question: unknown, ...rest: unknown[]): unknown => {
    const isNamed =
      typeof question === 'object' && question !== null && 'name' in question && 'text' in question;
    return ask.call(client, isNamed ? { ...question, name: undefined } : question, ...rest);
  };
  client.query = unnamed as typeof client.query;
}
