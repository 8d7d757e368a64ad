import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from '../lib/process-stat.js';

const POLL_MS = 20;

function isOurs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether the command line of a process names the data folder. Always true on systems without `/proc`. */
function mayServe(pid: number, directory: string): boolean {
  if (!existsSync('/proc/self/cmdline')) return true;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory);
  } catch {
    // It has ended in this moment.
    return false;
  }
}

/** Process id and port of a server of this cluster that an earlier run left behind. */
export function leftBehind(directory: string): { pid: number; port: number } | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  // A file that is empty, being written or after a power cut, would name 0: to the system our own process group.
  if (!(pid > 0) || !isRunning(pid)) return undefined;
  // Another process may have got the number since: ours may be signalled, and names its data folder.
  if (!isOurs(pid) || !mayServe(pid, directory)) return undefined;
  return { pid, port: Number(lines[3]) };
}

/**
 * What this process says of itself as the cluster's server: `ready` when it takes connections, on its own port then, and
 * `starting` while it recovers. Undefined if it says nothing.
 */
export function serverState(directory: string, pid: number | undefined): string | undefined {
  try {
    const lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid ? lines[7]?.trim() : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Ends a server by pid: SIGINT is PostgreSQL's fast shutdown; SIGQUIT (immediate) only when that hangs, or the
 * signal tells that nobody wants to wait.
 * @throws Error when it still runs after 30 s.
 */
export async function stopServer(pid: number, hurry?: AbortSignal): Promise<void> {
  for (const [signal, patienceMs] of [
    ['SIGINT', 20_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    if (!isRunning(pid)) return;
    process.kill(pid, signal);
    for (const end = Date.now() + patienceMs; Date.now() < end && isRunning(pid); ) {
      if (hurry?.aborted && signal === 'SIGINT') break;
      await delay(POLL_MS);
    }
  }
  if (isRunning(pid)) throw new Error(`the database (process ${pid}) is not stopping`);
}
