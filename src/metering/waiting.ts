import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DAMAGED_FOLDER, DEAD_LETTERS_FOLDER, segmentFiles } from './orphans.js';
import { segmentEvents } from './replay.js';

/**
 * Number of events in the spools below `directory` of processes that have ended: an upper bound of what the next start
 * books. Some may be in the database already, since a segment is removed only when all its events are.
 */
export async function waitingEvents(directory: string): Promise<number> {
  const ids = new Set<string>();
  for (const path of await segmentsBelow(directory)) {
    for await (const records of segmentEvents(path)) for (const { id } of records) ids.add(id);
  }
  return ids.size;
}

async function segmentsBelow(directory: string): Promise<string[]> {
  try {
    const spools = (await readdir(directory)).filter(
      (name) => name !== DEAD_LETTERS_FOLDER && name !== DAMAGED_FOLDER,
    );
    return (await Promise.all(spools.map((name) => segmentFiles(join(directory, name))))).flat();
  } catch (error) {
    // No edge has ever run here.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
