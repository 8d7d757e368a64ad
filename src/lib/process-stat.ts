import { readFileSync } from 'node:fs';

/** What /proc knows about a process, if there is a /proc. */
export interface ProcessStat {
  /** One letter: `R` running, `S` sleeping, `Z` ended and not reaped by its parent, … */
  state: string;
  /** Start time in clock ticks since boot: a later process that reuses the pid has another. */
  startTime: string;
}

/** Ended, though the number is taken until the parent has asked for the outcome; some parents never ask. */
const ENDED = new Set(['Z', 'X', 'x']);

/**
 * The fields of `/proc/<pid>/stat` after the name, from the state on. Undefined without such a process, and on a system
 * without /proc.
 */
export function statFields(pid: number): string[] | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name in parentheses may hold spaces and parentheses itself.
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Undefined without such a process, and on a system without /proc. */
export function processStat(pid: number): ProcessStat | undefined {
  const fields = statFields(pid);
  return fields && { state: fields[0] ?? '', startTime: fields[19] ?? '' };
}

/** Whether a process is alive, whoever owns it. A zombie isn't: it no longer holds any file, port or memory. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const stat = processStat(pid);
  return stat === undefined || !ENDED.has(stat.state);
}

/**
 * Whether the very process that started at `startTime` lives, and not merely a later one with its number. An empty
 * start says nothing, as where there is no /proc: then the number decides.
 */
export function isStillRunning(pid: number, startTime: string): boolean {
  if (!isRunning(pid)) return false;
  const now = processStat(pid)?.startTime ?? '';
  return now === '' || startTime === '' || now === startTime;
}
