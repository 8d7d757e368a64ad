import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../lib/logger.js';
import { TERMINATED } from './flush.store.js';
import type { Handed } from './hand-over.js';
import { DAMAGED_FOLDER, DEAD_LETTERS_FOLDER, isMissing, segmentFiles, setDamagedAside } from './orphans.js';
import { decodeFrames, HEADER_BYTES, headerState, nextFrame, type SpoolEntry } from './spool-record.js';
import type { CallIntent, UsageRecord } from './usage-record.js';

/** Records decoded in one step, so that replaying doesn't block the event loop. */
const SLICE = 500;

export interface ReplayOptions {
  /** The folder that holds the spools of all processes. */
  directory: string;
  log: Logger;
  /** Resolves when each record is committed, a dead letter or waits for a locked account. @throws Error when the process stops. */
  commit(records: UsageRecord[]): Promise<Handed>;
}

/**
 * The event of a call whose process died before the call finished. It is free, and derived from the intent alone, so that
 * every process that adopts the spool writes the same one.
 */
export function terminatedEvent({ at, ...call }: CallIntent): UsageRecord {
  return {
    ...call,
    createdAt: at,
    servedModel: call.movedTo ?? call.requestedModel,
    inputTokens: 0,
    outputTokens: 0,
    priceIn: 0n,
    priceOut: 0n,
    cost: 0n,
    latencyMs: 0,
    ttftMs: null,
    status: 'error',
    errorCode: TERMINATED,
    errorMessage: 'The gateway stopped before the call finished. Send it again.',
    httpStatus: 502,
    clientAborted: false,
    estimated: false,
    anomalous: false,
    deployment: null,
    nodeId: null,
    nodeCalls: null,
  };
}

/** Decodes a segment in slices. Skips and reports damaged bytes between records. */
async function* readSegment(bytes: Buffer, onDamage: (offset: number) => void): AsyncGenerator<SpoolEntry[]> {
  let offset = HEADER_BYTES;
  while (offset < bytes.length) {
    const { entries, end } = decodeFrames(bytes, offset, SLICE);
    if (entries.length > 0) yield entries;
    if (entries.length === SLICE) {
      offset = end;
      continue;
    }
    if (end === bytes.length) return;
    offset = nextFrame(bytes, end);
    // No complete record follows: the torn tail of a killed process or a power failure.
    if (offset === -1) return;
    onDamage(end);
  }
}

export interface Replayed extends Handed {
  /** How many events were read. */
  events: number;
}

/**
 * Commits all events of a dead process's folder and then removes the folder. The files stay until every event is
 * committed: an interrupted replay starts again, and repeated events change nothing. Resolves when all events are handed
 * over; `settled` resolves after the folder is removed.
 */
export async function replayFolder(folder: string, options: ReplayOptions): Promise<Replayed> {
  const waiting: Promise<void>[] = [];
  const commit = async (records: UsageRecord[]): Promise<void> => {
    const { waits, settled } = await options.commit(records);
    if (waits) waiting.push(settled);
  };
  const open = new Map<string, CallIntent>();
  const damaged = new Set<string>();
  let events = 0;
  for (const path of await segmentFiles(folder)) {
    const bytes = await readFile(path);
    const state = headerState(bytes);
    if (state === 'torn') continue;
    if (state === 'unknown') {
      damaged.add(path);
      options.log.error({ path }, 'a spool segment has an unknown version; kept for the build that wrote it');
      continue;
    }
    const onDamage = (offset: number): void => {
      damaged.add(path);
      options.log.error({ path, offset }, 'a spool segment is damaged; skipped to the next complete record');
    };
    for await (const entries of readSegment(bytes, onDamage)) {
      const records: UsageRecord[] = [];
      for (const entry of entries) {
        if (entry.kind === 'intent') open.set(entry.intent.id, entry.intent);
        else {
          open.delete(entry.record.id);
          records.push(entry.record);
        }
      }
      events += records.length;
      if (records.length > 0) await commit(records);
    }
  }
  const terminated = [...open.values()].map(terminatedEvent);
  for (let i = 0; i < terminated.length; i += SLICE) await commit(terminated.slice(i, i + SLICE));
  const remove = async (): Promise<void> => {
    await Promise.all(waiting);
    for (const path of damaged) await setDamagedAside(options.directory, path);
    await rm(folder, { recursive: true, force: true });
  };
  return { events: events + terminated.length, waits: waiting.length > 0, settled: remove() };
}

/**
 * Commits the finished calls in the folder of a process that may be alive. Leaves the folder and the open calls to that
 * process; events that both commit are charged once.
 * @throws Error when the folder can't be read, or the process stops.
 */
export async function commitRecorded(folder: string, commit: ReplayOptions['commit']): Promise<void> {
  try {
    // If the folder is adopted meanwhile, the adopter commits the rest.
    for (const path of await segmentFiles(folder)) await commitSegment(path, commit);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function commitSegment(path: string, commit: ReplayOptions['commit']): Promise<void> {
  // The owner removes a segment once all of its events are committed.
  const bytes = await readFile(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (!bytes || headerState(bytes) !== 'known') return;
  for await (const entries of readSegment(bytes, () => undefined)) {
    const records = eventsOf(entries);
    if (records.length > 0) await commit(records);
  }
}

/** The events of finished calls in one segment, in slices. */
export async function* segmentEvents(path: string): AsyncGenerator<UsageRecord[]> {
  for await (const entries of readSegment(await readFile(path), () => undefined)) yield eventsOf(entries);
}

const eventsOf = (entries: SpoolEntry[]): UsageRecord[] =>
  entries.flatMap((entry) => (entry.kind === 'event' ? [entry.record] : []));

/**
 * Counts the events in the spools below `directory` whose processes have ended: an upper bound of what the next start
 * charges. Some may be in the database already, because a segment is removed only when all of its events are.
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
    // No edge has run here yet.
    if (isMissing(error)) return [];
    throw error;
  }
}
