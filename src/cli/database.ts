import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.js';
import { startEmbeddedPostgres } from '../db/embedded.js';
import { findEmbeddedPostgres } from '../db/find-embedded.js';
import { openOrm } from '../db/orm.js';
import { reachableCluster } from '../db/reachable.js';
import { throwIfPooler } from '../db/refused-by-pooler.js';
import { ensureDataDir } from '../lib/data-dir.js';
import {
  commandNote,
  dataDirLock,
  isCommand,
  LockedError,
  type LockHolder,
  takeLock,
  usedBy,
} from '../lib/lock-file.js';

const DATABASE = 'gateway';
/** How long the database of a running product may take to answer: it may be starting. */
const PATIENCE_MS = 5_000;

interface OpenDatabase {
  url: string;
  close(): Promise<void>;
}

/**
 * Runs `work` on the configured database: on `DATABASE_DIRECT_URL`, past any pooler, or on the database of `npm start` in
 * `DATA_DIR`, which is started if the product doesn't run.
 * @throws Error if there is no database, if it doesn't answer or another command uses it, or if the address is an undeclared
 * pooler's
 */
export async function withDatabase<T>(
  { databaseDirectUrl, dataDir }: Pick<Config, 'databaseDirectUrl' | 'dataDir'>,
  processName: string,
  work: (orm: MikroORM) => Promise<T>,
): Promise<T> {
  const embedded = databaseDirectUrl === null ? await openEmbedded(dataDir, processName) : undefined;
  try {
    const orm = openOrm({ databaseUrl: databaseDirectUrl ?? embedded!.url, processName, poolSize: 1 });
    try {
      return await work(orm);
    } catch (error) {
      throwIfPooler(error);
      throw error;
    } finally {
      await orm.close(true);
    }
  } finally {
    await embedded?.close();
  }
}

async function openEmbedded(dataDir: string, processName: string): Promise<OpenDatabase> {
  const directory = join(dataDir, 'postgres');
  if (!existsSync(join(reachableCluster(directory), 'PG_VERSION'))) {
    throw new Error(`no database in ${dataDir}: set DATABASE_URL or DATA_DIR`);
  }
  ensureDataDir(dataDir);
  let release: () => void;
  try {
    // Otherwise the product could adopt the server that this command stops when it ends.
    release = takeLock(dataDirLock(dataDir), commandNote(processName));
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    return findRunning(dataDir, directory, error.holder);
  }
  try {
    const server = await startEmbeddedPostgres({ directory });
    return {
      url: server.url(DATABASE),
      async close() {
        try {
          // One that a killed launcher left running is for the next start.
          if (server.origin !== 'adopted') await server.stop();
        } finally {
          release();
        }
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** The database of the product, which alone may start and stop it. */
async function findRunning(dataDir: string, directory: string, holder: LockHolder): Promise<OpenDatabase> {
  if (isCommand(holder)) throw new Error(usedBy(holder, dataDir));
  const url = await findEmbeddedPostgres(directory, PATIENCE_MS);
  if (!url) {
    throw new Error(
      `the database of the product that runs from ${dataDir} (process ${holder.pid}, ${holder.note}) does not respond`,
    );
  }
  return { url: url(DATABASE), close: async () => undefined };
}
