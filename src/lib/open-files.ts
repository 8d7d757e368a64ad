import { readFileSync } from 'node:fs';

/** For createOutageLog: log lines for a server that runs out of file descriptors. */
export const OUT_OF_FILES = {
  isOutage: () => true,
  begins:
    'has no descriptor left for new connections and closes them: raise the limit of open files (LimitNOFILE, ulimit -n)',
  ends: 'takes all new connections again',
};
/** The outage is over after this time without a connection closed for this reason. */
export const QUIET_MS = 30_000;

/** How many files and connections this process may have open; infinite if the limit is unknown. */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    // Name, soft limit, hard limit.
    return Number(/^Max open files +(\d+) /m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
