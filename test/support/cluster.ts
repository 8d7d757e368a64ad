import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '../../src/db/embedded.js';
import { prepareDatabase } from './prepared-database.js';

const DATABASE = 'gateway';

/** Including ownership, because as root the database has another user. */
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', `${from}/.`, to]);

/**
 * Puts a cluster with the product's schema and catalog into a data folder, like a start of the product.
 * The first test file of a run creates it, which takes seconds; the others get a copy.
 */
export async function putCluster(dataDir: string): Promise<void> {
  mkdirSync(dataDir, { recursive: true });
  const kept = process.env.TEST_CLUSTER;
  if (kept !== undefined && existsSync(kept)) {
    await copy(kept, dataDir);
    return;
  }
  await makeCluster(dataDir);
  if (kept === undefined) return;
  const draft = `${kept}.${process.pid}`;
  mkdirSync(draft);
  await copy(dataDir, draft);
  try {
    renameSync(draft, kept);
  } catch {
    // Another test file was faster.
    rmSync(draft, { recursive: true });
  }
}

async function makeCluster(dataDir: string): Promise<void> {
  const server = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres') });
  try {
    await prepareDatabase(server, DATABASE);
  } finally {
    await server.stop();
  }
}
