import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.js';
import { startEmbeddedPostgres } from '../db/embedded.js';
import { findEmbeddedPostgres } from '../db/find-embedded.js';
import { isFormerCluster } from '../db/former-cluster.js';
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
/** How long to wait for the database of a running product, which may still be starting. */
const PATIENCE_MS = 5_000;

interface DatabasePlace extends Pick<Config, 'databaseDirectUrl' | 'dataDir'> {
  /** For tests, as in `EmbeddedOptions`. */
  systemRoot?: string;
}

interface OpenDatabase {
  url: string;
  close(): Promise<void>;
}

/**
 * Runs `work` on the configured database: on `DATABASE_DIRECT_URL`, past any pooler, or on the embedded database in
 * `DATA_DIR`, which is started if the product doesn't run.
 * @throws Error if there is no database, it doesn't respond, another command uses it, or the address belongs to an undeclared
 * pooler
 */
export async function withDatabase<T>(
  place: DatabasePlace,
  processName: string,
  work: (orm: MikroORM) => Promise<T>,
): Promise<T> {
  const { databaseDirectUrl } = place;
  const embedded = databaseDirectUrl === null ? await openEmbedded(place, processName) : undefined;
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

const directoryOf = (dataDir: string): string => join(dataDir, 'postgres');

async function openEmbedded(place: DatabasePlace, processName: string): Promise<OpenDatabase> {
  const { dataDir, systemRoot } = place;
  const directory = directoryOf(dataDir);
  const cluster = reachableCluster(directory, systemRoot);
  // Only a start of the product may set a former cluster aside and create a new one.
  const isFormer = isFormerCluster({ wanted: directory, directory: cluster });
  if (isFormer || !existsSync(join(cluster, 'PG_VERSION'))) {
    throw new Error(`no database in ${dataDir}: set DATABASE_URL or DATA_DIR`);
  }
  ensureDataDir(dataDir);
  let release: () => void;
  try {
    // Without the lock, the product could adopt the server that this command stops at its end.
    release = takeLock(dataDirLock(dataDir), commandNote(processName));
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    return findRunning(place, error.holder);
  }
  try {
    const server = await startEmbeddedPostgres({ directory, systemRoot });
    return {
      url: server.url(DATABASE),
      async close() {
        try {
          // A server left running by a killed launcher is for the next start to adopt.
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

/** Finds the database of the running product, which this command must not stop. */
async function findRunning(
  { dataDir, systemRoot }: DatabasePlace,
  holder: LockHolder,
): Promise<OpenDatabase> {
  if (isCommand(holder)) throw new Error(usedBy(holder, dataDir));
  const url = await findEmbeddedPostgres(directoryOf(dataDir), PATIENCE_MS, systemRoot);
  if (!url) {
    throw new Error(
      `the database of the product that runs from ${dataDir} (process ${holder.pid}, ${holder.note}) does not respond`,
    );
  }
  return { url: url(DATABASE), close: async () => undefined };
}
