import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { flushBatch, isDataFault } from './flush.store.js';
import { DEAD_LETTERS_FOLDER } from './orphans.js';
import type { UsageRecord } from './usage-record.js';

/** An event that the database refuses, and why. */
export interface DeadLetter {
  reason: string;
  record: UsageRecord;
}

export interface Retaken {
  /** Events that are in the database now. */
  taken: DeadLetter[];
  /** Events that were refused again, with the new reason. */
  left: DeadLetter[];
}

/** One file per event, so that no event is appended to a file that is being retried. */
const SUFFIX = '.json';
const fileOf = (directory: string, id: string): string =>
  join(directory, DEAD_LETTERS_FOLDER, `${id}${SUFFIX}`);

/**
 * Writes an event that the database rejects to a file of its own, `{ reason, record }` with amounts as strings of 1e-12
 * dollars. The file is on the disk when this resolves.
 * @throws Error of the disk.
 */
export async function setAside(directory: string, record: UsageRecord, reason: string): Promise<void> {
  const folder = join(directory, DEAD_LETTERS_FOLDER);
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
 * Reads all dead letters, oldest first.
 * @throws Error of the disk.
 */
export async function listDeadLetters(directory: string): Promise<DeadLetter[]> {
  const names = await readdir(join(directory, DEAD_LETTERS_FOLDER)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const paths = names.filter((name) => name.endsWith(SUFFIX)).sort();
  return Promise.all(
    paths.map(async (name) =>
      parseDeadLetter(await readFile(join(directory, DEAD_LETTERS_FOLDER, name), 'utf8')),
    ),
  );
}

function parseDeadLetter(text: string): DeadLetter {
  const { reason, record } = JSON.parse(text);
  const { priceIn, priceOut, cost } = record;
  return {
    reason,
    record: {
      // Missing in files of older builds.
      ...{ movedTo: null, deployment: null, errorMessage: null },
      ...record,
      ...{ priceIn: BigInt(priceIn), priceOut: BigInt(priceOut), cost: BigInt(cost) },
    },
  };
}

/**
 * Sends every dead letter again, one at a time. An event is charged as of the time of its call; one that is already in
 * the database is not charged again.
 * @throws Error of the disk, or of a database that is unavailable. Dead letters not yet retried are kept.
 */
export async function retakeDeadLetters(directory: string, pool: Pool): Promise<Retaken> {
  const taken: DeadLetter[] = [];
  const left: DeadLetter[] = [];
  for (const event of await listDeadLetters(directory)) {
    const reason = await refusalOf(pool, event.record);
    if (reason === undefined) {
      await rm(fileOf(directory, event.record.id), { force: true });
      taken.push(event);
    } else {
      await setAside(directory, event.record, reason);
      left.push({ record: event.record, reason });
    }
  }
  return { taken, left };
}

/** Why the database refuses an event; undefined once it is in the database. */
async function refusalOf(pool: Pool, record: UsageRecord): Promise<string | undefined> {
  try {
    const { refused } = await flushBatch(pool, [record]);
    return refused.length > 0 ? UNKNOWN_ACCOUNT : undefined;
  } catch (error) {
    if (!isDataFault(error)) throw error;
    return (error as Error).message;
  }
}

/** Why an event without an account to charge is rejected. */
export const UNKNOWN_ACCOUNT = 'the account does not exist';
