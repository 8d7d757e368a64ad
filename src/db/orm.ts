import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { entities } from '../entities/index.js';
import { SESSION_LIMITS } from './bounded.js';
import { migrations } from './migrations.js';
import { guardConnection, STATEMENT_TIMEOUT_MS } from './patience.js';
import { shareFairly } from './pool-share.js';

export interface OrmOptions {
  databaseUrl: string;
  /** Shown in pg_stat_activity. */
  processName: string;
  /** Most connections of this process; small pools of their own keep dashboards from starving billing. */
  poolSize?: number;
}

/** Milliseconds after which a wait for a connection fails (RELIABILITY.md F9, F10). */
const CONNECTION_TIMEOUT_MS = 5_000;
/** And for a turn to have one. Shorter: a database that is away must not be waited for twice. */
const TURN_TIMEOUT_MS = 3_000;

/** MikroORM's options, shared by the processes and the migration command. */
export function ormOptions({ databaseUrl, processName, poolSize = 5 }: OrmOptions) {
  return defineConfig({
    clientUrl: databaseUrl,
    entities,
    extensions: [Migrator],
    forceUtcTimezone: true,
    pool: { min: 0, max: poolSize },
    driverOptions: {
      application_name: `gateway-${processName}`,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      ...SESSION_LIMITS,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      keepAlive: true,
      onPoolCreated: (pool: Pool) => {
        pool.on('connect', guardConnection);
        shareFairly(pool, TURN_TIMEOUT_MS);
      },
    },
    migrations: {
      migrationsList: migrations,
      snapshot: false,
      transactional: true,
    },
    schemaGenerator: {
      ignoreRoutines: true,
      skipTables: [/^agenda/],
    },
    debug: false,
    logger: () => undefined,
  });
}

/** An array as PostgreSQL reads it. Each element is quoted: MikroORM leaves the word `null` bare, which stands for NULL. */
const quotedArray = (values: string[]): string =>
  `{${values.map((value) => `"${String(value).replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;

/** Opens MikroORM for one process. Nothing is connected until the first query. */
export async function openOrm(options: OrmOptions): Promise<MikroORM> {
  const orm = await MikroORM.init(ormOptions(options));
  orm.em.getPlatform().marshallArray = quotedArray;
  return orm;
}

/** The pg pool below MikroORM, for set-based SQL with arrays. */
export async function pgPool(orm: MikroORM): Promise<Pool> {
  return (await orm.em.getConnection().getNativeClient()) as Pool;
}
