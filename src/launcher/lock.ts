import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Who holds a lock. */
export interface LockHolder {
  pid: number;
  /** What tells this process from a later one with the same number; null where the system doesn't say. */
  start: string | null;
  /** What the holder wants others to know, such as its address. */
  note: string;
}

/** Another living process holds the lock. */
export class LockedError extends Error {
  constructor(readonly holder: LockHolder) {
    super(`held by process ${holder.pid}`);
    this.name = 'LockedError';
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The start of a process in clock ticks since boot (field 22 of its stat), where there is a /proc. */
function startOf(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function parse(text: string): LockHolder | undefined {
  try {
    const holder = JSON.parse(text) as LockHolder;
    return Number.isInteger(holder.pid) && holder.pid > 0 ? holder : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(holder: LockHolder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const start = startOf(holder.pid);
  return start === null || holder.start === null || start === holder.start;
}

/** Removes a dead holder's lock, and no other: what was moved away is looked at before it goes. */
function clearStale(path: string, seen: string): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
    if (read(aside) !== seen) linkSync(aside, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/**
 * Takes a lock file for the life of this process; what a killed process left is cleaned. Gives the release.
 * @throws LockedError when a living process holds it.
 */
export function takeLock(path: string, note: string): () => void {
  const draft = `${path}.${process.pid}`;
  const own: LockHolder = { pid: process.pid, start: startOf(process.pid), note };
  writeFileSync(draft, `${JSON.stringify(own)}\n`);
  try {
    for (;;) {
      try {
        // A hard link appears whole or not at all.
        linkSync(draft, path);
        return () => rmSync(path, { force: true });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const seen = read(path);
      if (seen === undefined) continue;
      const holder = parse(seen);
      if (holder && isAlive(holder)) throw new LockedError(holder);
      clearStale(path, seen);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}
