import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { Clock } from '../lib/clock.js';
import { newId } from '../lib/ids.js';
import type { Logger } from '../lib/logger.js';
import { within } from '../lib/within.js';
import { Adoption } from './adoption.js';
import { setAside } from './dead-letters.js';
import { FLUSH_TIMEOUT_MS, recordedEvents } from './flush.store.js';
import { Flusher } from './flusher.js';
import { HandOver } from './hand-over.js';
import { createMeterMetrics } from './meter-metrics.js';
import { beat } from './orphans.js';
import { OWNER_FILE, ownIdentity, writeOwner } from './owner.js';
import { Recorder } from './recorder.js';
import { realDisk, type SpoolDisk } from './segment.js';
import { Spool } from './spool.js';
import type { FlushResult, Meter, UsageRecord } from './usage-record.js';

export interface MeterOptions {
  /** Holds one folder per process, `<DATA_DIR>/spool`; shared by all processes that may adopt each other's. */
  directory: string;
  pool: Pool;
  log: Logger;
  registry: Registry;
  clock: Clock;
  /** Of this process's folder; an id that no other process ever had. */
  name?: string;
  /**
   * Called with what dead processes have recorded and a locked account keeps from being committed. It counts in this process
   * until it is among the `own` of `onFlushed`.
   */
  onTakenOver?(records: UsageRecord[]): void;
  /** Called every few seconds with the names of dead processes whose spools are adopted, until everything of theirs is committed. */
  onFound?(owners: string[]): void;
  /**
   * Whether no process may admit calls that this one can't look up. It then accepts calls only once balances contain what is
   * recorded in all folders, however lately.
   */
  alone?: boolean;
  /** Called with the names of dead processes once everything of theirs is committed or taken over. */
  onReplayed?(owners: string[]): void;
  /** Called synchronously after each commit. */
  onFlushed(result: FlushResult): void;
  /** For tests of a failing disk. */
  disk?: SpoolDisk;
  /** Events kept in memory while the database is away. */
  memoryEvents?: number;
  /** How often the folder's heartbeat is touched, and with it whether the folder is still there. */
  heartbeatMs?: number;
  /** How often it looks for spools of dead processes. */
  lookMs?: number;
  /**
   * How long start, stop, and answers that may be charged wait for a database that doesn't answer, or is slow; seconds unless
   * given.
   */
  patienceMs?: number;
}

const MEMORY_EVENTS = 50_000;
/** A database that takes nothing doesn't hold up the start longer. */
const START_WAIT_MS = 3_000;
const STOP_WAIT_MS = 4_000;
const HEARTBEAT_MS = 10_000;
const POLL_MS = 5;

/** Creates the folder with its owner's file already in it, so that it is never seen without an owner. */
function makeFolder(directory: string, name: string): string {
  const draft = join(directory, `.${name}`);
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  writeOwner(draft, ownIdentity());
  const folder = join(directory, name);
  renameSync(draft, folder);
  return folder;
}

/**
 * Opens this process's spool, takes over those of dead processes and starts flushing.
 * @throws Error when the spool's folder can't be made.
 */
export async function createMeter(options: MeterOptions): Promise<Meter> {
  const { directory, pool, log, clock } = options;
  const name = options.name ?? newId();
  const folder = makeFolder(directory, name);
  let stopping = false;
  let rejectReplay: (reason: Error) => void = () => undefined;
  const replayEnds = new Promise<never>((_resolve, reject) => {
    rejectReplay = reject;
  });
  replayEnds.catch(() => undefined);

  const metrics = createMeterMetrics(
    options.registry,
    () => recorder.backlog(),
    () => flusher.heldEvents(),
  );
  const flusher = new Flusher({
    pool,
    log,
    metrics,
    onFlushed: options.onFlushed,
    onFailure: () => recorder.abandonAnswers(),
    setAside: async (record, reason) => {
      await setAside(directory, record, reason);
    },
  });
  const spool = new Spool({
    folder,
    log,
    disk: options.disk ?? realDisk,
    onSync: (durationMs) => metrics.syncSeconds.observe(durationMs / 1000),
    onDoubtful: (segment) => recorder.reappend((number) => number === segment),
    onRecover: () => recorder.respool(),
  });
  const memoryEvents = options.memoryEvents ?? MEMORY_EVENTS;
  const doubtMs = options.patienceMs ?? FLUSH_TIMEOUT_MS;
  const recorder = new Recorder({ spool, flusher, clock, log, memoryEvents, doubtMs });

  const handOver = new HandOver({
    flusher,
    ends: replayEnds,
    recorded: (records) => recordedEvents(pool, records),
    takeOver: (records) => options.onTakenOver?.(records),
  });
  const adoption = new Adoption({
    directory,
    own: folder,
    self: ownIdentity(),
    log,
    alone: options.alone ?? false,
    intervalMs: options.lookMs,
    commit: (records, borrowed) => handOver.commit(records, clock.now(), borrowed),
    onFound: (owners) => options.onFound?.(owners),
    onHandedOver: (owners) => options.onReplayed?.(owners),
    onReplayed: (events) => metrics.replayed.inc(events),
  });

  /**
   * The folder of this living process was deleted or taken: the process creates a new one and writes everything again.
   */
  const rehome = (error: unknown): void => {
    // Another beat of the same moment may have made it already.
    if (stopping || existsSync(join(folder, OWNER_FILE))) return;
    log.error({ err: error }, 'recreated the missing spool folder of this process');
    try {
      makeFolder(directory, name);
      const current = spool.rotate();
      if (current !== undefined) recorder.reappend((segment) => segment < current);
    } catch (failure) {
      log.error({ err: failure }, 'failed to recreate the spool folder');
    }
  };
  const heartbeat = setInterval(
    () => void beat(folder).catch(rehome),
    options.heartbeatMs ?? HEARTBEAT_MS,
  ).unref();

  const waitFor = async (condition: () => boolean, timeoutMs: number): Promise<boolean> => {
    for (let waited = 0; !condition(); waited += POLL_MS) {
      if (waited >= timeoutMs) return false;
      await delay(POLL_MS);
      recorder.refill();
    }
    return true;
  };

  const drain = async (timeoutMs: number): Promise<boolean> => {
    await nextTurn();
    const newest = recorder.newest();
    flusher.hurry();
    return waitFor(() => recorder.isCommitted(newest), timeoutMs);
  };

  const stopWaitMs = options.patienceMs ?? STOP_WAIT_MS;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    clearInterval(heartbeat);
    await drain(stopWaitMs);
    recorder.close();
    rejectReplay(new Error('metering stops'));
    const adopted = await adoption.stop();
    await within(stopWaitMs, flusher.stop());
    const empty = await spool.close();
    // Without its owner's file the folder is free to be adopted, though this process may still run.
    await rm(empty && adopted ? folder : join(folder, OWNER_FILE), { recursive: true, force: true });
  };

  /** Whether balances that are read contain what dead processes had recorded, or it counts here. */
  let isCaughtUp = false;
  const start = async (): Promise<void> => {
    const caughtUp = adoption.start().then(() => {
      isCaughtUp = true;
    });
    let before: number;
    do {
      before = handOver.events;
      await within(options.patienceMs ?? START_WAIT_MS, caughtUp);
    } while (!isCaughtUp && handOver.events > before);
  };

  await start();
  return {
    begin: (intent) => recorder.begin(intent),
    finish: (record, written, opened) => recorder.finish(record, written, opened),
    accepting: () => isCaughtUp && recorder.accepting(),
    backlog: () => recorder.backlog(),
    drain,
    stop,
  };
}
