import { MikroORM, type Options } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { guardConnection } from './patience.js';
import { shareFairly } from './pool-share.js';
import { sessionSettings } from './session-settings.js';
import { unname } from './unnamed.js';

export interface ConnectionOptions {
  databaseUrl: string;
  /** Shown in pg_stat_activity. */
  processName: string;
  /** Whether the address is a pooler's: settings and statements that belong to a session are left out. */
  pooled?: boolean;
  /** Most connections of this process; small pools of their own keep dashboards from starving billing. */
  poolSize?: number;
}

/** Milliseconds after which a wait for a connection fails (requirements F9, F10). */
const CONNECTION_TIMEOUT_MS = 5_000;
/** And for a turn to have one. Shorter: a database that is away must not be waited for twice. */
const TURN_TIMEOUT_MS = 3_000;

/** How every process connects, whatever it knows of what is in the database. */
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

/** Opens MikroORM as every process does. */
export function openAs(options: Options): MikroORM {
  // `init` would look for extensions that aren't installed.
  const orm = new MikroORM(options);
  orm.em.getPlatform().marshallArray = quotedArray;
  return orm;
}

/** The pg pool below MikroORM, for set-based SQL with arrays. */
export async function pgPool(orm: MikroORM): Promise<Pool> {
  return (await orm.em.getConnection().getNativeClient()) as Pool;
}
