import { mkdir, readdir, readFile, rename, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemClock } from '../lib/clock.js';
import { isGone, OWNER_FILE, type Owner, parseOwner } from './owner.js';

/** What a look has seen of the folder of an owner that can't be looked up. */
export interface Heartbeat {
  /** File time that its owner has set, by its clock. */
  at: number;
  /** At how many looks in a row it has been the same. */
  looks: number;
}

/** Heartbeats by the name of the folder. */
export type Heartbeats = ReadonlyMap<string, Heartbeat>;

/**
 * At so many looks, a minute's, a heartbeat must be the same for its owner to count as gone. No clock decides: it may be
 * set, and after a sleep of the machine every heartbeat is old.
 */
const LOOKS = 12;

/** Folders in addition to those of processes. */
export const DEAD_LETTERS_FOLDER = 'dead-letters';
export const DAMAGED_FOLDER = 'damaged';
const RESERVED = new Set([DEAD_LETTERS_FOLDER, DAMAGED_FOLDER]);
const ADOPTED_PREFIX = 'adopted-';
const SEGMENT_SUFFIX = '.seg';

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Name of the segment file with this number; sorts by number. */
export const segmentName = (number: number): string => `${String(number).padStart(10, '0')}${SEGMENT_SUFFIX}`;

/** A sign that the owner lives, for those who can't see its process. File times, hence the real clock. */
export async function beat(folder: string): Promise<void> {
  const now = new Date(systemClock.now());
  await utimes(join(folder, OWNER_FILE), now, now);
}

/** Whether a folder is an orphan, or its heartbeat while that isn't known. `last` is its heartbeat at the previous look. */
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
    // A folder appears with its owner's file in it; without one its owner has given it up.
    if (isMissing(error)) return true;
    throw error;
  }
}

/**
 * Takes every folder below `directory` whose owner is gone by renaming it into `own`. The rename is atomic: of
 * several adopters one wins. If a folder can't be taken, `failed` is called and the others are taken all the same.
 * @param seen What the look before gave.
 * @returns Those whose owners can't be looked up and may live.
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
 * Paths of the folders that a process has adopted and not yet replayed, in order. The disk alone knows them, so that no
 * error makes the process forget one.
 * @throws Error when `own` exists and can't be read.
 */
export async function adoptedFolders(own: string): Promise<string[]> {
  try {
    const names = await readdir(own);
    const adopted = names.filter((name) => name.startsWith(ADOPTED_PREFIX)).sort();
    return adopted.map((name) => join(own, name));
  } catch (error) {
    // Whoever deleted the process's folder has deleted what was adopted, too.
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Names of the processes whose folders lie in an adopted folder: its owner's, and of those that it had adopted itself. */
export async function formerOwners(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const inner = entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  const names = await Promise.all(inner.map(formerOwners));
  return [basename(folder).replace(ADOPTED_PREFIX, ''), ...names.flat()];
}

/** Segment files of an adopted folder, oldest first, those that its owner had adopted itself included. */
export async function segmentFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await segmentFiles(path)));
    else if (entry.name.endsWith(SEGMENT_SUFFIX)) files.push(path);
  }
  return files.sort();
}

/** Puts a file that could not be read in full out of the way, for a person to look at. */
export async function setDamagedAside(directory: string, path: string): Promise<string> {
  const folder = join(directory, DAMAGED_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const target = join(folder, path.slice(directory.length + 1).replaceAll('/', '_'));
  await rename(path, target);
  return target;
}
