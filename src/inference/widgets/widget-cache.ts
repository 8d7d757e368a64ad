import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { Invalidation } from '../../db/invalidation.js';
import { type Clock, utcDay } from '../../lib/clock.js';
import type { Envelope } from '../../lib/crypto.js';
import type { Logger } from '../../lib/logger.js';
import type { FlushResult, UsageRecord } from '../../metering/usage-record.js';
import { type DatabaseContact, STALE_MS } from '../database-contact.js';
import type { KeyCache } from '../keys/key-cache.js';
import type { Payer } from '../payer.js';
import { type Waiter, WaitingReads } from '../waiting-reads.js';
import { readWidgets, type WidgetRow } from './widget.store.js';
import { type WidgetEntry, type WidgetState, WidgetStates } from './widget-states.js';

/** The database can't be asked and nothing that is fresh enough is known. */
export class WidgetUnavailableError extends Error {}

/** As of keys: a change that nobody told of is effective after this at the latest. */
const TTL_MS = 5_000;
/** An entry in use is read again from this age on, before anybody has to wait for it. */
const REFRESH_MS = 2_500;
const MISSING_TTL_MS = 1_000;
const MAX_WIDGETS = 20_000;
const MAX_MISSING = 20_000;
const BATCH = 200;
/** From the start of one statement to that of the next, however many unknown keys are asked for. */
const PAUSE_MS = 10;
const SWEEP_MS = 60_000;

interface Deps {
  pool: Pool;
  envelope: Envelope;
  clock: Clock;
  log: Logger;
  contact: DatabaseContact;
  accounts: Pick<KeyCache, 'shareAccount' | 'accountOf' | 'useAccounts'>;
}

interface Slot {
  entry: WidgetEntry;
  /** The round of `invalidateAll` in which it was read. */
  round: number;
  /** Changed since it was read: not to be used, not even while the database is away. */
  changed: boolean;
}

/** Widgets by their public keys, as the edge knows them. */
export class WidgetCache {
  readonly #slots = new LRUCache<string, Slot>({ max: MAX_WIDGETS });
  readonly #missing: LRUCache<string, true>;
  readonly #states: WidgetStates;
  readonly #waiting = new WaitingReads<WidgetEntry>(BATCH);
  readonly #sweeper: NodeJS.Timeout;
  /** Ids that changed while a reading is under way: its rows for them may be the old ones. */
  #changed = new Set<string>();
  #allChanged = false;
  #reading = false;
  #round = 0;

  constructor(private readonly deps: Deps) {
    this.#states = new WidgetStates(deps);
    this.#missing = new LRUCache({
      max: MAX_MISSING,
      ttl: MISSING_TTL_MS,
      perf: { now: () => deps.clock.now() },
    });
    deps.accounts.useAccounts(() => this.#accounts());
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  /**
   * The widget of a public key; null: there is none, or its account may not act.
   * @throws WidgetUnavailableError
   */
  async find(publicKey: string): Promise<WidgetEntry | null> {
    if (this.#missing.has(publicKey)) return null;
    const slot = this.#slots.get(publicKey);
    if (!slot || slot.changed || slot.round !== this.#round) return this.#read(publicKey);
    const age = this.deps.clock.now() - slot.entry.readAt;
    if (age > TTL_MS) return this.#read(publicKey);
    if (age > REFRESH_MS) this.#read(publicKey).catch(() => undefined);
    return slot.entry;
  }

  /** Reads a widget again. Never rejects. */
  async renew(publicKey: string): Promise<void> {
    await this.#read(publicKey).catch(() => undefined);
  }

  invalidate(change: Invalidation): void {
    if (change.kind === 'catalog') this.#allChanged = true;
    else this.#changed.add(change.id);
    this.#missing.clear();
    for (const slot of this.#slots.values()) {
      const { row } = slot.entry;
      const isMeant =
        change.kind === 'catalog' ||
        (change.kind === 'account' && change.id === row.accountId) ||
        (change.kind === 'widget' && change.id === row.id);
      if (isMeant) slot.changed = true;
    }
  }

  /** A prompt of an account has changed. */
  promptsChanged(accountId: string): void {
    this.invalidate({ kind: 'account', id: accountId });
  }

  /** Notifications may have been missed: everything is read again before its next use, if the database answers. */
  invalidateAll(): void {
    this.#allChanged = true;
    this.#missing.clear();
    this.#round++;
  }

  /** Takes over what a commit changed. @returns The widgets whose messages it concerned. */
  flushed(result: FlushResult): Set<WidgetState> {
    return this.#states.flushed(result);
  }

  /** Counts the message of a call that a dead process has recorded. @returns The widget, and who pays for the call. */
  takeOver(record: UsageRecord, widgetId: string): { state: WidgetState; payer: Payer } {
    return this.#states.takeOver(record, widgetId);
  }

  stop(): void {
    clearInterval(this.#sweeper);
  }

  #read(publicKey: string): Promise<WidgetEntry | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(publicKey, { resolve, reject });
      if (!this.#reading) void this.#readWaiting();
    });
  }

  /** Reads what is waited for, one statement at a time, until nothing is left. */
  async #readWaiting(): Promise<void> {
    this.#reading = true;
    while (this.#waiting.size > 0) {
      const startedAt = performance.now();
      await this.#readBatch(this.#waiting.take());
      const pause = startedAt + PAUSE_MS - performance.now();
      if (this.#waiting.size > 0 && pause > 0) await delay(pause);
    }
    this.#reading = false;
  }

  async #readBatch(batch: ReadonlyMap<string, Waiter<WidgetEntry>[]>): Promise<void> {
    this.#changed = new Set();
    this.#allChanged = false;
    const now = this.deps.clock.now();
    try {
      const rows = await readWidgets(this.deps.pool, [...batch.keys()], utcDay(now));
      this.deps.contact.heard();
      const found = new Map(rows.map((row) => [row.publicKey, row]));
      for (const [publicKey, waiters] of batch) this.#settle(publicKey, found.get(publicKey), waiters, now);
    } catch (error) {
      this.deps.log.debug({ err: error }, 'failed to read widgets');
      for (const [publicKey, waiters] of batch) this.#serveStale(publicKey, waiters);
    }
  }

  #settle(
    publicKey: string,
    row: WidgetRow | undefined,
    waiters: Waiter<WidgetEntry>[],
    readAt: number,
  ): void {
    const isOld = row && (this.#allChanged || this.#changed.has(row.id) || this.#changed.has(row.accountId));
    // A change came while we read: this row may be the one before it, so it is read once more.
    if (isOld) {
      this.#waiting.add(publicKey, ...waiters);
      return;
    }
    const entry = row ? this.#states.enter(row, readAt, this.#slots.peek(publicKey)?.entry) : null;
    if (entry) this.#slots.set(publicKey, { entry, round: this.#round, changed: false });
    else {
      this.#slots.delete(publicKey);
      // It may have been made meanwhile: who asked before gets this answer, who asks from now on a new one.
      if (this.#changed.size === 0 && !this.#allChanged) this.#missing.set(publicKey, true);
    }
    for (const waiter of waiters) waiter.resolve(entry);
  }

  #serveStale(publicKey: string, waiters: readonly Waiter<WidgetEntry>[]): void {
    const slot = this.#slots.get(publicKey);
    const usable = slot && !slot.changed && this.deps.clock.now() - slot.entry.readAt <= STALE_MS;
    for (const waiter of waiters) {
      if (usable) waiter.resolve(slot.entry);
      else waiter.reject(new WidgetUnavailableError('the database did not respond'));
    }
  }

  *#accounts(): Iterable<string> {
    for (const { entry } of this.#slots.values()) yield entry.account.id;
  }

  #sweep(): void {
    const used = new Set<string>();
    for (const { entry } of this.#slots.values()) used.add(entry.row.id);
    this.#states.sweep(used, this.deps.clock.now());
  }
}
