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
  /** Ends a wait for its server. */
  signal?: AbortSignal | undefined;
}

/**
 * Renames a cluster outside of DATA_DIR whose DATA_DIR was deleted: the password was in there, so nothing could connect, and
 * deleting DATA_DIR means starting over. Nothing is deleted.
 * @returns where it lies now; undefined when there was none
 */
export async function setFormerAside({
  wanted,
  directory,
  signal,
}: ClusterPlace): Promise<string | undefined> {
  const isOfThis =
    linkTarget(wanted) !== undefined || hasGeneratedSecret(dirname(wanted), 'DATABASE_PASSWORD');
  if (directory === wanted || isOfThis || !existsSync(directory)) return undefined;
  const server = leftBehind(directory);
  if (server) await stopServer(server.pid, signal);
  let nth = 1;
  while (existsSync(`${directory}.former-${nth}`)) nth++;
  renameSync(directory, `${directory}.former-${nth}`);
  return `${directory}.former-${nth}`;
}
