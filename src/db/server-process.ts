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
    // The process has just ended.
    return false;
  }
}

/** Pid and port of a server of this cluster that an earlier run left behind. */
export function leftBehind(directory: string): { pid: number; port: number } | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  // An empty file, as during a write or after a power cut, reads as pid 0, which would signal our own process group.
  if (!(pid > 0) || !isRunning(pid)) return undefined;
  // The pid may have been reused: only our own server can be signalled and has the folder in its command line.
  if (!isOurs(pid) || !mayServe(pid, directory)) return undefined;
  return { pid, port: Number(lines[3]) };
}

/**
 * The state that this process reports as the cluster's server: `ready` when it accepts connections on its port, `starting`
 * during recovery. Undefined if it reports none.
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
 * Ends a server by pid: SIGINT, PostgreSQL's fast shutdown, and SIGQUIT (immediate) if that takes too long or `hurry` is
 * aborted.
 * @throws Error if it still runs after 30 s.
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
