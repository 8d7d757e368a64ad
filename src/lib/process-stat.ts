import { readFileSync } from 'node:fs';

/** Facts about a process from /proc. */
export interface ProcessStat {
  /** One letter: `R` running, `S` sleeping, `Z` ended but not reaped by its parent, … */
  state: string;
  /** Start time in clock ticks since boot; a later process that reuses the pid has another one. */
  startTime: string;
}

/** States of an ended process whose pid is in use until its parent reaps it, which some parents never do. */
const ENDED = new Set(['Z', 'X', 'x']);

/**
 * The fields of `/proc/<pid>/stat` after the name, from the state on. Undefined if there is no such process, or no /proc.
 */
export function statFields(pid: number): string[] | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name in parentheses may contain spaces and parentheses.
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Undefined if there is no such process, or no /proc. */
export function processStat(pid: number): ProcessStat | undefined {
  const fields = statFields(pid);
  return fields && { state: fields[0] ?? '', startTime: fields[19] ?? '' };
}

/** Whether a process of any user is alive. A zombie isn't: it no longer holds files, ports or memory. */
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
 * Whether the process that started at `startTime` is alive, as opposed to a later one with the same pid. If the start time is empty,
 * as without /proc, the pid decides.
 */
export function isStillRunning(pid: number, startTime: string): boolean {
  if (!isRunning(pid)) return false;
  const now = processStat(pid)?.startTime ?? '';
  return now === '' || startTime === '' || now === startTime;
}
