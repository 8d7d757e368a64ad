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
  /** Name of this process's folder; must be unique for all time. */
  name?: string;
  /**
   * Called with records of dead processes that a locked account keeps from being committed. They count in this process
   * until `onFlushed` lists them in `own`.
   */
  onTakenOver?(records: UsageRecord[]): void;
  /** Called every few seconds with the names of dead processes whose spools are adopted and not yet committed. */
  onFound?(owners: string[]): void;
  /**
   * Whether every process that may admit calls runs where this one can look it up. If so, calls are accepted only once
   * balances contain the events of all folders, however recent.
   */
  alone?: boolean;
  /** Called with the names of dead processes once all of their events are committed or taken over. */
  onReplayed?(owners: string[]): void;
  /** Called synchronously after each commit. */
  onFlushed(result: FlushResult): void;
  /** Replaced by tests of a failing disk. */
  disk?: SpoolDisk;
  /** Maximum events kept in memory while the database is unavailable. */
  memoryEvents?: number;
  /** How often the owner file is touched, which also notices a deleted folder. */
  heartbeatMs?: number;
  /** How often to look for spools of dead processes. */
  lookMs?: number;
  /**
   * How long start, stop and answers with an uncertain commit wait for a slow database. By default 3 s, 4 s and as long
   * as a flush may take.
   */
  patienceMs?: number;
}

const MEMORY_EVENTS = 50_000;
/** How long an unavailable database may delay the start. */
const START_WAIT_MS = 3_000;
const STOP_WAIT_MS = 4_000;
const HEARTBEAT_MS = 10_000;
const POLL_MS = 5;

/** Creates the folder with the owner file already in it, so that other processes never see it without an owner. */
function makeFolder(directory: string, name: string): string {
  const draft = join(directory, `.${name}`);
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  writeOwner(draft, ownIdentity());
  const folder = join(directory, name);
  renameSync(draft, folder);
  return folder;
}

/**
 * Opens this process's spool, adopts the spools of dead processes and starts flushing.
 * @throws Error if the spool's folder can't be created.
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
    () => spool.degraded(),
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

  /** Recreates this process's folder after somebody deleted or took it, and writes all uncommitted events again. */
  const rehome = (error: unknown): void => {
    // A concurrent heartbeat may have recreated it already.
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
    // Without an owner file, other processes may adopt the folder although this one still runs.
    await rm(empty && adopted ? folder : join(folder, OWNER_FILE), { recursive: true, force: true });
  };

  /** Whether each event of dead processes is either part of the balances in the database or counts in this process. */
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
    degraded: () => spool.degraded(),
    backlog: () => recorder.backlog(),
    drain,
    stop,
  };
}
