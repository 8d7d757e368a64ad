import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { answers } from './answers.js';
import { passwordOf, urlsOn } from './embedded-urls.js';
import { reachableCluster } from './reachable.js';
import { leftBehind } from './server-process.js';

const POLL_MS = 25;

/**
 * Finds the server of a cluster that another process runs, and waits until it responds, since it may be starting. Starts and
 * stops nothing.
 * @returns A function that makes addresses of its databases; undefined if it doesn't respond in time.
 */
export async function findEmbeddedPostgres(
  directory: string,
  patienceMs: number,
  systemRoot?: string,
): Promise<((database: string) => string) | undefined> {
  const wanted = resolve(directory);
  const urlOn = urlsOn(passwordOf(dirname(wanted)));
  const cluster = reachableCluster(wanted, systemRoot);
  for (const end = Date.now() + patienceMs; ; await delay(POLL_MS)) {
    const server = leftBehind(cluster);
    if (server?.port && (await answers(urlOn(server.port)('postgres')))) return urlOn(server.port);
    if (Date.now() >= end) return undefined;
  }
}
