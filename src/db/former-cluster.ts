import { existsSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasGeneratedSecret } from '../lib/generated-secret.js';
import { linkTarget } from './reachable.js';
import { leftBehind, stopServer } from './server-process.js';

interface ClusterPlace {
  /** The path in DATA_DIR of the cluster or of a link to it. */
  wanted: string;
  /** Where the cluster really is. */
  directory: string;
}

/** Whether a cluster outside of DATA_DIR has lost its DATA_DIR, and with it the password, so that nothing can connect. */
export function isFormerCluster({ wanted, directory }: ClusterPlace): boolean {
  const isOfThis =
    linkTarget(wanted) !== undefined || hasGeneratedSecret(dirname(wanted), 'DATABASE_PASSWORD');
  return directory !== wanted && !isOfThis && existsSync(directory);
}

/**
 * Renames a cluster whose DATA_DIR was deleted, which means that a new one is wanted. Deletes nothing.
 * @param signal Aborts the wait for its server.
 * @returns The new path; undefined if there was no such cluster.
 */
export async function setFormerAside(place: ClusterPlace, signal?: AbortSignal): Promise<string | undefined> {
  if (!isFormerCluster(place)) return undefined;
  const { directory } = place;
  const server = leftBehind(directory);
  if (server) await stopServer(server.pid, signal);
  let nth = 1;
  while (existsSync(`${directory}.former-${nth}`)) nth++;
  renameSync(directory, `${directory}.former-${nth}`);
  return `${directory}.former-${nth}`;
}
