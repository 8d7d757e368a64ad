import type pg from 'pg';

type Ask = (config: pg.QueryConfig | string, ...rest: unknown[]) => Promise<pg.QueryResult>;

/** A statement with its connection, whose own `query` isn't watched. */
export interface WatchedStatement {
  text: string;
  values: unknown[];
  query(text: string, values: unknown[]): Promise<pg.QueryResult>;
  /** Of the server's process. */
  pid: number;
}

/** Wraps every statement on connections taken with `await pool.connect()` in `around`. */
export function watchPool(
  pool: pg.Pool,
  around: (
    text: string,
    ask: () => Promise<pg.QueryResult>,
    statement: WatchedStatement,
  ) => Promise<pg.QueryResult>,
): void {
  const watched = new WeakSet<pg.PoolClient>();
  const connect = pool.connect.bind(pool) as (...parameters: unknown[]) => Promise<pg.PoolClient>;
  const watch = (client: pg.PoolClient): pg.PoolClient => {
    if (watched.has(client)) return client;
    watched.add(client);
    const ask = client.query.bind(client) as unknown as Ask;
    client.query = ((config: pg.QueryConfig | string, ...rest: unknown[]) => {
      // The pool's own `query` uses a callback and isn't wrapped.
      if (typeof rest.at(-1) === 'function') return ask(config, ...rest);
      const { text, values } = typeof config === 'string' ? { text: config, values: undefined } : config;
      const statement = {
        text,
        values: values ?? (rest[0] as unknown[] | undefined) ?? [],
        query: ask,
        pid: (client as unknown as { processID: number }).processID,
      };
      return around(text, () => ask(config, ...rest), statement);
    }) as never;
    return client;
  };
  pool.connect = ((...parameters: unknown[]) =>
    parameters.length > 0 ? connect(...parameters) : connect().then(watch)) as never;
}
