import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/db/embedded.js';
import { prepareDatabase } from '../../support/prepared-database.js';

const DATABASE = 'gateway';

export interface BenchCluster {
  url: string;
  /** Of the server's first process. */
  pid: number;
  /** Whether the database had been filled by an earlier run. */
  filled: boolean;
  stop(): Promise<void>;
}

/**
 * Starts the embedded PostgreSQL in a folder, migrated and seeded. Without durability, since a run that is cut off is
 * repeated.
 */
export async function startCluster(folder: string, kept: boolean): Promise<BenchCluster> {
  const server = await startEmbeddedPostgres({ directory: join(folder, 'postgres'), disposable: true });
  try {
    await prepareDatabase(server, DATABASE);
    const filled = await isFilled(server);
    const pid = Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
    return {
      url: server.url(DATABASE),
      pid,
      filled,
      async stop() {
        await server.stop();
        if (!kept) rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** A database whose filling was cut off still has the tables that the filling needs. */
async function isFilled(server: EmbeddedPostgres): Promise<boolean> {
  const client = new pg.Client({ connectionString: server.url(DATABASE) });
  await client.connect();
  try {
    const { rows } = await client.query<{ used: boolean; begun: boolean }>(
      `select exists (select from accounts) as used, to_regclass('bench_accounts') is not null as begun`,
    );
    if (rows[0]!.begun) throw new Error('an earlier run was cut off while it filled this folder: delete it');
    return rows[0]!.used;
  } finally {
    await client.end();
  }
}
