import { existsSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasGeneratedSecret } from '../lib/generated-secret.js';
import { linkTarget } from './reachable.js';
import { leftBehind, stopServer } from './server-process.js';

interface ClusterPlace {
  /** Where DATA_DIR has its cluster or a link to it. */
  wanted: string;
  /** Where it lies. */
  directory: string;
}

/** Whether a cluster lies outside of DATA_DIR whose DATA_DIR was deleted: the password was in there, so nothing can connect. */
export function isFormerCluster({ wanted, directory }: ClusterPlace): boolean {
  const isOfThis =
    linkTarget(wanted) !== undefined || hasGeneratedSecret(dirname(wanted), 'DATABASE_PASSWORD');
  return directory !== wanted && !isOfThis && existsSync(directory);
}

/**
 * Renames a cluster whose DATA_DIR was deleted, since that means starting over. Nothing is deleted.
 * @param signal ends the wait for its server
 * @returns where it lies now; undefined when there was none
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
