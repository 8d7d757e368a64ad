import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.js';
import { startEmbeddedPostgres } from '../db/embedded.js';
import { openOrm } from '../db/orm.js';
import { reachableCluster } from '../db/reachable.js';
import { throwIfPooler } from '../db/refused-by-pooler.js';

/**
 * Runs `work` on the configured database: on `DATABASE_DIRECT_URL`, past any pooler, or on the database of `npm start` in
 * `DATA_DIR`, which is started if it isn't running.
 * @throws Error if there is no database, or if the address is an undeclared pooler's
 */
export async function withDatabase<T>(
  { databaseDirectUrl, dataDir }: Pick<Config, 'databaseDirectUrl' | 'dataDir'>,
  processName: string,
  work: (orm: MikroORM) => Promise<T>,
): Promise<T> {
  const embedded = databaseDirectUrl === null ? await openEmbedded(dataDir) : undefined;
  try {
    const url = databaseDirectUrl ?? embedded!.url('gateway');
    const orm = openOrm({ databaseUrl: url, processName, poolSize: 1 });
    try {
      return await work(orm);
    } catch (error) {
      throwIfPooler(error);
      throw error;
    } finally {
      await orm.close(true);
    }
  } finally {
    // One that was running already belongs to `npm start`.
    if (embedded && embedded.origin !== 'adopted') await embedded.stop();
  }
}

function openEmbedded(dataDir: string) {
  const directory = join(dataDir, 'postgres');
  if (!existsSync(join(reachableCluster(directory), 'PG_VERSION'))) {
    throw new Error(`no database in ${dataDir}: set DATABASE_URL or DATA_DIR`);
  }
  return startEmbeddedPostgres({ directory });
}
