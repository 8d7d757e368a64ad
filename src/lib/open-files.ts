import { readFileSync } from 'node:fs';

/** For createOutageLog: how a server out of file descriptors is told, and that it isn't any more. */
export const OUT_OF_FILES = {
  isOutage: () => true,
  begins:
    'has no descriptor left for new connections and closes them: raise the limit of open files (LimitNOFILE, ulimit -n)',
  ends: 'takes all new connections again',
};
/** After so long without a connection that was closed for this reason. */
export const QUIET_MS = 30_000;

/** How many files and connections this process may have open; infinite where nothing is known of a limit. */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    // Name, soft limit, hard limit.
    return Number(/^Max open files +(\d+) /m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
