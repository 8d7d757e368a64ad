import { performance } from 'node:perf_hooks';
import type { Pool } from 'pg';
import { isLockFault } from '../db/lock-fault.js';
import { type BackOff, jitteredMs } from '../lib/back-off.js';
import type { Logger } from '../lib/logger.js';
import { UNKNOWN_ACCOUNT } from './dead-letters.js';
import { type BatchResult, flushBatch, isDataFault, isOutcomeUnknown } from './flush.store.js';
import { HeldAccounts } from './held-accounts.js';
import type { MeterMetrics } from './meter-metrics.js';
import type { Pending } from './pending.js';
import type { FlushResult, UsageRecord } from './usage-record.js';

export interface FlusherOptions {
  pool: Pool;
  log: Logger;
  metrics: MeterMetrics;
  onFlushed(result: FlushResult): void;
  /** An attempt failed; the events stay pending. */
  onFailure(): void;
  /** Keeps an event that the database rejects as a dead letter. */
  setAside(record: UsageRecord, reason: string): Promise<void>;
}

interface Suspect {
  pending: Pending;
  tries: number;
  /** Monotonic milliseconds of the next try. */
  dueAt: number;
}

const FLUSH_DELAY_MS = 50;
const FULL_BATCH = 500;
const MAX_BATCH = 1_000;
const RETRY: BackOff = { firstMs: 50, maxMs: 2_000 };
const MAX_TRIES = 5;

/** Commits pending events in batches, one transaction at a time, and retries until it succeeds. */
export class Flusher {
  private queue: Pending[] = [];
  /** Events whose answer waits for the commit. */
  private urgent: Pending[] = [];
  private inFlight: Pending[] = [];
  private suspects: Suspect[] = [];
  private readonly held: HeldAccounts;
  private failures = 0;
  private timer: NodeJS.Timeout | undefined;
  private timerDueAt = Number.POSITIVE_INFINITY;
  private running: Promise<void> | undefined;
  private hurried = false;
  private stopped = false;

  constructor(private readonly options: FlusherOptions) {
    this.held = new HeldAccounts({
      pool: options.pool,
      log: options.log,
      commit: (batch) => this.commit(batch),
      takeOut: (accountId) => this.takeOut(accountId),
    });
  }

  add(pending: Pending): void {
    this.queue.push(pending);
    this.schedule();
  }

  /** Flushes an event immediately, before all others. */
  addUrgent(pending: Pending): void {
    this.urgent.push(pending);
    this.schedule();
  }

  /** Whether the last attempt failed because the database was unavailable. */
  failing(): boolean {
    return this.failures > 0;
  }

  size(): number {
    return (
      this.queue.length + this.urgent.length + this.inFlight.length + this.suspects.length + this.held.events
    );
  }

  /** How many unsettled events wait for locked accounts. */
  heldEvents(): number {
    return this.held.events;
  }

  /** All events that are neither committed nor dead letters. */
  *unsettled(): Generator<Pending> {
    yield* this.inFlight;
    yield* this.urgent;
    yield* this.queue;
    for (const suspect of this.suspects) yield suspect.pending;
    yield* this.held.pendings();
  }

  /** When the oldest unsettled event was recorded. */
  oldestSince(): number | undefined {
    const heads = [this.inFlight[0], this.urgent[0], this.queue[0], this.suspects[0]?.pending];
    const times = heads.flatMap((pending) => (pending ? [pending.since] : []));
    const oldest = Math.min(this.held.oldestSince(), ...times);
    return oldest === Number.POSITIVE_INFINITY ? undefined : oldest;
  }

  /** Flushes without waiting for a batch to fill, until nothing is pending. */
  hurry(): void {
    this.hurried = true;
    this.schedule();
  }

  /** Ends after the transaction that is under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  // The timer isn't unref'ed: a process with pending events must not end because nothing else is open.
  private schedule(): void {
    if (this.stopped || this.running || this.dueAnyway()) return;
    const now = performance.now();
    const wait = this.waitMs(now);
    if (wait === undefined || now + wait >= this.timerDueAt) return;
    clearTimeout(this.timer);
    this.timerDueAt = now + wait;
    this.timer = setTimeout(() => {
      this.timerDueAt = Number.POSITIVE_INFINITY;
      this.running = this.run().finally(() => {
        this.running = undefined;
        this.schedule();
      });
    }, wait);
  }

  /** Whether a flush is due soon anyway. This is so for nearly every event and skips the computation in `waitMs`. */
  private dueAnyway(): boolean {
    return (
      this.timerDueAt !== Number.POSITIVE_INFINITY &&
      this.queue.length < FULL_BATCH &&
      this.urgent.length === 0 &&
      this.suspects.length === 0 &&
      this.held.empty &&
      !this.hurried
    );
  }

  /** Milliseconds until there is something to do; undefined when nothing is pending. */
  private waitMs(now: number): number | undefined {
    const apart = this.suspects.map((suspect) => suspect.dueAt);
    const apartWait = Math.max(0, Math.min(this.held.dueAt(), ...apart) - now);
    const queued = this.queue.length + this.urgent.length;
    if (queued === 0 && apartWait === Number.POSITIVE_INFINITY) return undefined;
    if (this.failures > 0) return jitteredMs(RETRY, this.failures);
    if (queued === 0) return apartWait;
    const atOnce = this.hurried || this.urgent.length > 0 || queued >= FULL_BATCH;
    return atOnce ? 0 : Math.min(FLUSH_DELAY_MS, apartWait);
  }

  private async run(): Promise<void> {
    this.held.progress();
    try {
      await this.retrySuspects();
      await this.held.retry();
      const batch = this.urgent.splice(0, MAX_BATCH);
      batch.push(...this.queue.splice(0, MAX_BATCH - batch.length));
      this.inFlight = this.held.keepOut(batch);
      if (this.inFlight.length > 0) await this.commit(this.inFlight);
      if (this.failures > 0) this.options.log.info({ events: this.size() }, 'usage flushing has resumed');
      this.failures = 0;
    } catch (error) {
      this.failed(error);
    }
    if (this.queue.length === 0) this.hurried = false;
  }

  private failed(error: unknown): void {
    this.queue = [...this.inFlight, ...this.urgent, ...this.queue];
    this.inFlight = [];
    this.urgent = [];
    this.failures++;
    this.options.metrics.flushFailures.inc();
    if (this.failures === 1) {
      this.options.log.warn({ err: error }, 'usage flush failed; events wait until the database is back');
    }
    this.options.onFailure();
  }

  /** Commits a batch. A rejected batch is halved until the faulty event is isolated. */
  private async commit(batch: Pending[]): Promise<void> {
    const start = performance.now();
    try {
      const result = await flushBatch(
        this.options.pool,
        batch.map((pending) => pending.record),
      );
      this.options.metrics.flushSeconds.observe((performance.now() - start) / 1000);
      this.options.metrics.batchEvents.observe(batch.length);
      if (result.strangeVersions > 0) this.options.metrics.strangeVersions.inc(result.strangeVersions);
      this.held.progress();
      await this.settleBatch(batch, result);
    } catch (error) {
      if (isOutcomeUnknown(error)) for (const pending of batch) pending.doubted?.();
      const locked = isLockFault(error);
      if (!locked && !isDataFault(error)) throw error;
      this.options.metrics.flushFailures.inc();
      if (locked) return this.held.setApart(batch, error);
      if (batch.length === 1) return this.suspect(batch[0]!, (error as Error).message);
      const middle = batch.length >> 1;
      await this.commit(batch.slice(0, middle));
      await this.commit(batch.slice(middle));
    }
  }

  private async settleBatch(batch: Pending[], result: BatchResult): Promise<void> {
    const refused = new Set(result.refused);
    const isRefused = ({ record, borrowed }: Pending): boolean => !borrowed && refused.has(record);
    const settled = refused.size === 0 ? batch : batch.filter((pending) => !isRefused(pending));
    this.announce(settled, result);
    this.settle(settled);
    if (refused.size === 0) return;
    for (const pending of batch) if (isRefused(pending)) await this.suspect(pending, UNKNOWN_ACCOUNT);
  }

  /** Reports what is settled, so that it no longer counts as pending. */
  private announce(settled: Pending[], { accounts, keyDays, alerted }: Omit<FlushResult, 'own'>): void {
    const own = settled.filter((pending) => pending.own).map((pending) => pending.record);
    try {
      this.options.onFlushed({ own, accounts, keyDays, alerted });
    } catch (error) {
      this.options.log.error({ err: error }, 'a listener of the usage flush failed');
    }
  }

  private settle(pendings: Pending[]): void {
    if (pendings === this.inFlight && this.suspects.length === 0 && this.held.empty) {
      this.inFlight = [];
      for (const pending of pendings) pending.settled();
      return;
    }
    const done = new Set(pendings);
    this.held.remove(pendings);
    this.inFlight = this.inFlight.filter((pending) => !done.has(pending));
    if (this.suspects.length > 0) this.suspects = this.suspects.filter(({ pending }) => !done.has(pending));
    for (const pending of pendings) pending.settled();
  }

  private takeOut(accountId: string): Pending[] {
    const isOther = ({ record }: Pending): boolean => record.accountId !== accountId;
    const taken = [...this.suspects.map(({ pending }) => pending), ...this.inFlight];
    this.suspects = this.suspects.filter(({ pending }) => isOther(pending));
    this.inFlight = this.inFlight.filter(isOther);
    return taken.filter((pending) => !isOther(pending));
  }

  /** Schedules an event that was rejected for a retry of its own; after the last one, it becomes a dead letter. */
  private async suspect(pending: Pending, reason: string): Promise<void> {
    this.inFlight = this.inFlight.filter((other) => other !== pending);
    this.held.remove([pending]);
    let suspect = this.suspects.find((known) => known.pending === pending);
    if (!suspect) {
      suspect = { pending, tries: 0, dueAt: 0 };
      this.suspects.push(suspect);
    }
    suspect.tries++;
    // A full disk can delay the dead letter, too.
    if (!pending.own) pending.delayed?.();
    suspect.dueAt = performance.now() + jitteredMs(RETRY, suspect.tries);
    if (suspect.tries < MAX_TRIES) return;
    try {
      await this.options.setAside(pending.record, reason);
    } catch (error) {
      this.options.log.error({ err: error }, 'failed to write a dead letter; will retry');
      this.options.onFailure();
      return;
    }
    this.options.metrics.deadLetters.inc();
    this.options.log.error(
      { event_id: pending.record.id, reason },
      'the database rejected a usage event; it was moved to the dead letters',
    );
    this.announce([pending], { accounts: [], keyDays: [], alerted: [] });
    this.settle([pending]);
  }

  private async retrySuspects(): Promise<void> {
    const now = performance.now();
    for (const suspect of this.suspects.filter(({ dueAt }) => dueAt <= now)) {
      // A commit of this loop may have moved it to the held accounts.
      if (this.suspects.includes(suspect)) await this.commit([suspect.pending]);
    }
  }
}
