import { randomBytes } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { openOrm } from '../../src/db/orm.js';
import { openWithoutMigrations } from '../../src/db/without-migrations.js';
import { until } from './until.js';

export interface TestDatabase {
  url: string;
  /** With a pool as large as the platform's. Opened on first use, since this takes longer than the clone. */
  readonly orm: MikroORM;
  /** The same for tests that only run SQL: without entities, unless the other one is already open. */
  readonly sql: MikroORM;
  /** The test's pool, for looking at rows like psql. */
  pool: pg.Pool;
  close(): Promise<void>;
}

const serverUrl = (): string => {
  const url = process.env.TEST_POSTGRES_URL;
  if (!url) throw new Error('TEST_POSTGRES_URL is not set: run the tests with npm test');
  return url;
};

async function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Drops a database. Closing connections get time to end, because a cut one would report an error. */
async function drop(client: pg.Client, name: string): Promise<void> {
  const sessions = async () =>
    (await client.query('select 1 from pg_stat_activity where datname = $1', [name])).rowCount;
  await until(async () => (await sessions()) === 0, { timeoutMs: 1_000, intervalMs: 10 }).catch(
    () => undefined,
  );
  await client.query(`drop database if exists ${name} with (force)`);
}

/**
 * Creates a database for the test file: migrated and seeded, or with `template0` empty. Its files are copied, which
 * needs a third of the processor time of writing them through the server's memory, and less when it is dropped.
 */
export async function createTestDatabase(template: 'tmpl' | 'template0' = 'tmpl'): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer((client) => client.query(`create database ${name} template ${template} strategy file_copy`));
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  const options = { databaseUrl: url.href, processName: 'test', poolSize: 8 };
  let orm: MikroORM | undefined;
  let sql: MikroORM | undefined;
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  pool.on('error', () => undefined);
  return {
    url: url.href,
    get orm() {
      orm ??= openOrm(options);
      return orm;
    },
    get sql() {
      sql ??= orm ?? openWithoutMigrations(options);
      return sql;
    },
    pool,
    async close() {
      await pool.end();
      await Promise.all([...new Set([orm, sql])].map((one) => one?.close(true)));
      await onServer((client) => drop(client, name));
    },
  };
}
