import type pg from 'pg';

type Ask = (config: pg.QueryConfig | string, ...rest: unknown[]) => Promise<pg.QueryResult>;

/** Wraps every statement on connections taken with `await pool.connect()` in `around`. */
export function watchPool(
  pool: pg.Pool,
  around: (text: string, ask: () => Promise<pg.QueryResult>) => Promise<pg.QueryResult>,
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
      return around(typeof config === 'string' ? config : config.text, () => ask(config, ...rest));
    }) as never;
    return client;
  };
  pool.connect = ((...parameters: unknown[]) =>
    parameters.length > 0 ? connect(...parameters) : connect().then(watch)) as never;
}
