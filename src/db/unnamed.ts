import type { PoolClient } from 'pg';

/**
 * Has a connection send statements without their names. A named one belongs to a session, and a pooler in transaction mode has
 * the next transaction run in another: where nobody has it, or, with a pooler that was started anew, somebody has.
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
