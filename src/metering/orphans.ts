import { mkdir, readdir, readFile, rename, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemClock } from '../lib/clock.js';
import { isGone, OWNER_FILE, type Owner, parseOwner } from './owner.js';

/** The last sign of life of an owner that isn't in this machine's process table. */
export interface Heartbeat {
  /** File time set by the owner, by its clock. */
  at: number;
  /** How many looks in a row found the same time. */
  looks: number;
}

/** Heartbeats by folder name. */
export type Heartbeats = ReadonlyMap<string, Heartbeat>;

/**
 * An owner counts as gone once its heartbeat was the same at this many looks, which takes a minute. Comparing it with the
 * clock would be wrong after the clock is set, and after the machine has slept.
 */
const LOOKS = 12;

/** Folders that don't belong to a process. */
export const DEAD_LETTERS_FOLDER = 'dead-letters';
export const DAMAGED_FOLDER = 'damaged';
const RESERVED = new Set([DEAD_LETTERS_FOLDER, DAMAGED_FOLDER]);
const ADOPTED_PREFIX = 'adopted-';
const SEGMENT_SUFFIX = '.seg';

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** File name of a segment. Names sort by number. */
export const segmentName = (number: number): string => `${String(number).padStart(10, '0')}${SEGMENT_SUFFIX}`;

/** Shows processes that can't look this one up that it is alive. Sets a file time, hence the real clock. */
export async function beat(folder: string): Promise<void> {
  const now = new Date(systemClock.now());
  await utimes(join(folder, OWNER_FILE), now, now);
}

/** Whether a folder is an orphan, or its heartbeat while that is unknown. `last` is its heartbeat at the previous look. */
async function isOrphan(
  folder: string,
  self: Owner,
  last: Heartbeat | undefined,
): Promise<boolean | Heartbeat> {
  const path = join(folder, OWNER_FILE);
  try {
    const [text, { mtimeMs: at }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    const gone = isGone(parseOwner(text), self);
    if (gone !== undefined) return gone;
    const beat = { at, looks: last?.at === at ? last.looks + 1 : 0 };
    return beat.looks >= LOOKS || beat;
  } catch (error) {
    // Folders are created with an owner file; the owner removes the file when it gives the folder up.
    if (isMissing(error)) return true;
    throw error;
  }
}

/**
 * Adopts every folder below `directory` whose owner is gone by renaming it into `own`. The rename is atomic: of
 * several adopters one wins. Calls `failed` for each folder that can't be renamed, and goes on with the others.
 * @param seen The result of the previous look.
 * @returns Heartbeats of the owners that can't be looked up and may be alive.
 * @throws Error when `directory` can't be read.
 */
export async function adoptOrphans(
  directory: string,
  own: string,
  self: Owner,
  seen: Heartbeats,
  failed: (error: unknown) => void,
): Promise<Heartbeats> {
  const left = new Map<string, Heartbeat>();
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const folder = join(directory, entry.name);
    if (!entry.isDirectory() || entry.name.startsWith('.') || RESERVED.has(entry.name) || folder === own)
      continue;
    try {
      const orphan = await isOrphan(folder, self, seen.get(entry.name));
      if (orphan === true) await rename(folder, join(own, `${ADOPTED_PREFIX}${entry.name}`));
      else if (orphan) left.set(entry.name, orphan);
    } catch (error) {
      if (!isMissing(error)) failed(error);
    }
  }
  return left;
}

/**
 * Paths of the folders that a process has adopted and not yet replayed, in order. Read from the disk each time, so that
 * no error makes the process forget one.
 * @throws Error when `own` exists and can't be read.
 */
export async function adoptedFolders(own: string): Promise<string[]> {
  try {
    const names = await readdir(own);
    const adopted = names.filter((name) => name.startsWith(ADOPTED_PREFIX)).sort();
    return adopted.map((name) => join(own, name));
  } catch (error) {
    // If the process's own folder was deleted, the adopted ones went with it.
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Names of the processes whose events are in an adopted folder: its owner, and those that the owner had adopted. */
export async function formerOwners(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const inner = entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  const names = await Promise.all(inner.map(formerOwners));
  return [basename(folder).replace(ADOPTED_PREFIX, ''), ...names.flat()];
}

/** Segment files of an adopted folder, oldest first, including those that its owner had adopted. */
export async function segmentFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await segmentFiles(path)));
    else if (entry.name.endsWith(SEGMENT_SUFFIX)) files.push(path);
  }
  return files.sort();
}

/** Moves a file that could not be read in full to the damaged folder, for a person to look at. @returns The new path. */
export async function setDamagedAside(directory: string, path: string): Promise<string> {
  const folder = join(directory, DAMAGED_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const target = join(folder, path.slice(directory.length + 1).replaceAll('/', '_'));
  await rename(path, target);
  return target;
}
