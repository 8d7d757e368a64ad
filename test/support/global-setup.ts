import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/db/embedded.js';
import { prepareDatabase } from './prepared-database.js';
import { makeScratch } from './scratch.js';

/** One real PostgreSQL for the whole run, with a migrated and seeded template that each test file clones. */
export default async function globalSetup(): Promise<void> {
  const directory = makeScratch();
  // Files of a test are removed with the run, even if the test was killed.
  process.env.TMPDIR = directory;
  const server = await startEmbeddedPostgres({ directory: join(directory, 'postgres'), disposable: true });
  await prepareDatabase(server, 'tmpl');
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  await client.query('alter database tmpl with is_template true allow_connections false');
  await client.end();
  process.env.TEST_POSTGRES_URL = server.url('postgres');
  process.env.TEST_CLUSTER = join(directory, 'cluster');
  process.env.NODE_ENV = 'test';
  (globalThis as { testServer?: unknown }).testServer = { server, directory };
}
