import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStillRunning, processStat } from './process-stat.js';

/** The process that holds a lock. */
export interface LockHolder {
  pid: number;
  /** Start time, which distinguishes the process from a later one with the same pid; null if the system doesn't provide it. */
  start: string | null;
  /** A note for others, such as the holder's address. */
  note: string;
}

const COMMAND = 'npm run ';

/** The lock of a data folder. The product holds it while it runs; a command holds it while it runs the database itself. */
export const dataDirLock = (dataDir: string): string => join(dataDir, 'launcher.lock');

/** The note of a command; the product notes its address. */
export const commandNote = (name: string): string => COMMAND + name;

export const isCommand = ({ note }: LockHolder): boolean => note.startsWith(COMMAND);

/** Why a data folder can't be used while another process holds its lock. */
export function usedBy(holder: LockHolder, dataDir: string): string {
  const { pid, note } = holder;
  return isCommand(holder)
    ? `${note} is using the database in ${dataDir} (process ${pid}): try again when it has ended`
    : `already running from ${dataDir}: process ${pid}, ${note}`;
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

function parse(text: string): LockHolder | undefined {
  try {
    const holder = JSON.parse(text) as LockHolder;
    return Number.isInteger(holder.pid) && holder.pid > 0 ? holder : undefined;
  } catch {
    return undefined;
  }
}

const isHeld = ({ pid, start }: LockHolder): boolean => isStillRunning(pid, start ?? '');

/** The living process that holds a lock. */
export function holderOf(path: string): LockHolder | undefined {
  const holder = parse(read(path) ?? '');
  return holder && isHeld(holder) ? holder : undefined;
}

/** Removes the lock of a dead holder. Moves the file aside and checks its content first, so that no other lock is removed. */
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
 * Takes a lock file for the life of this process. Removes the lock of a killed process.
 * @returns A function that releases the lock.
 * @throws LockedError if a living process holds the lock
 */
export function takeLock(path: string, note: string): () => void {
  const draft = `${path}.${process.pid}`;
  const own: LockHolder = { pid: process.pid, start: processStat(process.pid)?.startTime ?? null, note };
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
      if (holder && isHeld(holder)) throw new LockedError(holder);
      clearStale(path, seen);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}
