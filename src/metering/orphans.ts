import { mkdir, readdir, readFile, rename, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemClock } from '../lib/clock.js';
import { isGone, OWNER_FILE, type Owner, parseOwner } from './owner.js';

/** Folders in addition to those of processes. */
export const DEAD_LETTERS_FOLDER = 'dead-letters';
export const DAMAGED_FOLDER = 'damaged';
const RESERVED = new Set([DEAD_LETTERS_FOLDER, DAMAGED_FOLDER]);
const ADOPTED_PREFIX = 'adopted-';
const SEGMENT_SUFFIX = '.seg';

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Name of the segment file with this number; sorts by number. */
export const segmentName = (number: number): string => `${String(number).padStart(10, '0')}${SEGMENT_SUFFIX}`;

/** Proof that the owner lives, for machines that can't see its process. File times, hence the real clock. */
export async function beat(folder: string): Promise<void> {
  const now = new Date(systemClock.now());
  await utimes(join(folder, OWNER_FILE), now, now);
}

async function isOrphan(folder: string, self: Owner): Promise<boolean> {
  const path = join(folder, OWNER_FILE);
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    return isGone(parseOwner(text), self, systemClock.now() - mtimeMs);
  } catch (error) {
    // A folder appears with its owner's file in it; without one its owner has given it up.
    if (isMissing(error)) return true;
    throw error;
  }
}

/**
 * Takes every folder below `directory` whose owner is gone by renaming it into `own`. The rename is atomic: of
 * several adopters one wins. If a folder can't be taken, `failed` is called and the others are taken all the same.
 * @throws Error when `directory` can't be read.
 */
export async function adoptOrphans(
  directory: string,
  own: string,
  self: Owner,
  failed: (error: unknown) => void,
): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const folder = join(directory, entry.name);
    if (!entry.isDirectory() || entry.name.startsWith('.') || RESERVED.has(entry.name) || folder === own)
      continue;
    try {
      if (await isOrphan(folder, self)) await rename(folder, join(own, `${ADOPTED_PREFIX}${entry.name}`));
    } catch (error) {
      if (!isMissing(error)) failed(error);
    }
  }
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
