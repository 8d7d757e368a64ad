import { readFileSync } from 'node:fs';

/** For createOutageLog: the log lines when a server runs out of file descriptors, and when it has some again. */
export const OUT_OF_FILES = {
  isOutage: () => true,
  begins:
    'has no descriptor left for new connections and closes them: raise the limit of open files (LimitNOFILE, ulimit -n)',
  ends: 'takes all new connections again',
};
/** The outage is over once no connection was closed for this reason for so long. */
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
