import { MikroORM, type Options } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import { DatabaseClient } from './client.js';
import { guardConnection } from './patience.js';
import { shareFairly } from './pool-share.js';
import { sessionSettings } from './session-settings.js';

export interface ConnectionOptions {
  databaseUrl: string;
  /** Shown in pg_stat_activity. */
  processName: string;
  /** Whether the address belongs to a pooler. If so, settings and statement names that need a session are left out. */
  pooled?: boolean;
  /** Maximum connections of this process. Small separate pools keep dashboards from starving billing. */
  poolSize?: number;
}

/** How long a request waits for a connection, so that it fails soon while the database is unavailable or frozen. */
const CONNECTION_TIMEOUT_MS = 5_000;
/** How long a request waits for its turn to get one. Shorter, so that it doesn't wait twice for an unavailable database. */
const TURN_TIMEOUT_MS = 3_000;

/**
 * Makes a connection send its statements without names. A named statement belongs to a session, and a pooler in transaction
 * mode may run the next transaction in another one, where the name is unknown, or taken after a restart of the pooler.
 */
export function unname(client: PoolClient): void {
  const send = client.query as (...args: unknown[]) => unknown;
  const unnamed = (query: unknown, ...rest: unknown[]): unknown => {
    const isNamed = typeof query === 'object' && query !== null && 'name' in query && 'text' in query;
    return send.call(client, isNamed ? { ...query, name: undefined } : query, ...rest);
  };
  client.query = unnamed as typeof client.query;
}

/** The options of every process's connections, independent of its entities and migrations. */
export function connectionOptions({
  databaseUrl,
  processName,
  pooled = false,
  poolSize = 5,
}: ConnectionOptions) {
  return {
    clientUrl: databaseUrl,
    forceUtcTimezone: true,
    pool: { min: 0, max: poolSize },
    driverOptions: {
      // MikroORM takes host, user and database from `clientUrl`, and drops its parameters, such as `sslmode`.
      connectionString: databaseUrl,
      Client: DatabaseClient,
      pooled,
      application_name: `gateway-${processName}`,
      ...sessionSettings(pooled),
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      keepAlive: true,
      onPoolCreated: (pool: Pool) => {
        pool.on('connect', guardConnection);
        if (pooled) pool.on('connect', unname);
        shareFairly(pool, TURN_TIMEOUT_MS);
      },
    },
    debug: false,
    logger: () => undefined,
  };
}

/** A PostgreSQL array literal with every element quoted. MikroORM leaves the string `null` unquoted, which means NULL. */
const quotedArray = (values: string[]): string =>
  `{${values.map((value) => `"${String(value).replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;

/** Opens MikroORM with the settings that all processes share. */
export function openAs(options: Options): MikroORM {
  // `init` would look for extensions that aren't installed.
  const orm = new MikroORM(options);
  orm.em.getPlatform().marshallArray = quotedArray;
  return orm;
}

/** Returns MikroORM's pg pool, for set-based SQL with arrays. */
export async function pgPool(orm: MikroORM): Promise<Pool> {
  return (await orm.em.getConnection().getNativeClient()) as Pool;
}
