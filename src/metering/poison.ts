import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { flushBatch, isDataFault } from './flush.store.js';
import { POISON_FOLDER } from './orphans.js';
import type { UsageRecord } from './usage-record.js';

/** An event that the database refuses, and why. */
export interface Poisoned {
  reason: string;
  record: UsageRecord;
}

export interface Retaken {
  /** Booked now, or before. */
  taken: Poisoned[];
  /** Refused again, with the reason of this time. */
  left: Poisoned[];
}

/** A file for each event, so that nobody appends to one that is being taken in. */
const SUFFIX = '.json';
const fileOf = (directory: string, id: string): string => join(directory, POISON_FOLDER, `${id}${SUFFIX}`);

/**
 * Sets an event that the database refuses aside, on the disk before this resolves: a file of its own with
 * `{ reason, record }`, amounts as strings of 1e-12 dollars.
 * @throws Error of the disk.
 */
export async function setPoisonAside(directory: string, record: UsageRecord, reason: string): Promise<void> {
  const folder = join(directory, POISON_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = fileOf(directory, record.id);
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.write(
      JSON.stringify({ reason, record }, (_key, value) =>
        typeof value === 'bigint' ? value.toString() : value,
      ),
    );
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  const entry = await open(folder, 'r');
  await entry.sync().finally(() => entry.close());
}

/**
 * What is set aside, oldest first.
 * @throws Error of the disk.
 */
export async function listPoisoned(directory: string): Promise<Poisoned[]> {
  const names = await readdir(join(directory, POISON_FOLDER)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const paths = names.filter((name) => name.endsWith(SUFFIX)).sort();
  return Promise.all(
    paths.map(async (name) => parsePoisoned(await readFile(join(directory, POISON_FOLDER, name), 'utf8'))),
  );
}

function parsePoisoned(text: string): Poisoned {
  const { reason, record } = JSON.parse(text);
  const { priceIn, priceOut, cost } = record;
  return {
    reason,
    record: { ...record, priceIn: BigInt(priceIn), priceOut: BigInt(priceOut), cost: BigInt(cost) },
  };
}

/**
 * Sends every event that is set aside again, each by itself. It is charged as of the time of its call; one that was
 * booked meanwhile changes nothing.
 * @throws Error of the disk, or of a database that can't be asked: what wasn't taken in is still there.
 */
export async function retakePoisoned(directory: string, pool: Pool): Promise<Retaken> {
  const taken: Poisoned[] = [];
  const left: Poisoned[] = [];
  for (const event of await listPoisoned(directory)) {
    const reason = await refusalOf(pool, event.record);
    if (reason === undefined) {
      await rm(fileOf(directory, event.record.id), { force: true });
      taken.push(event);
    } else {
      await setPoisonAside(directory, event.record, reason);
      left.push({ record: event.record, reason });
    }
  }
  return { taken, left };
}

/** Why the database refuses an event; undefined: it is booked. */
async function refusalOf(pool: Pool, record: UsageRecord): Promise<string | undefined> {
  try {
    const { refused } = await flushBatch(pool, [record]);
    return refused.length > 0 ? UNKNOWN_ACCOUNT : undefined;
  } catch (error) {
    if (!isDataFault(error)) throw error;
    return (error as Error).message;
  }
}

/** Why an event is refused that nobody can be charged for. */
export const UNKNOWN_ACCOUNT = 'the account does not exist';
