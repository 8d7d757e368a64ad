import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Invalidation } from '../db/invalidation.js';
import { AppError } from '../errors.js';
import { type Clock, utcDay } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { AccountRow } from './accounts.js';
import { type DatabaseContact, STALE_MS } from './database-contact.js';
import type { Payer } from './payer.js';
import { RowSlots, type Slot } from './row-slots.js';

/** The database doesn't answer, and no row that is fresh enough is cached. */
export class RowUnavailableError extends AppError {
  constructor() {
    super('service_unavailable', { retryAfterSeconds: 1 });
  }
}

/** A payer's row with its account and plan. */
export interface PayerRow extends AccountRow {
  readonly id: string;
  readonly virtualKeySealed: string | null;
}

/** An immutable version of a payer's row. */
export interface CachedPayer extends Payer {
  readonly virtualKeySealed: string | null;
  readonly readAt: number;
}

export interface RowCacheDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
  contact: DatabaseContact;
}

export interface RowCacheOptions {
  /** The kind of rows, for the log. */
  what: string;
  /** Most rows to keep. Of names without a row, half as many are kept. */
  max: number;
  /** Most names per statement. */
  batch: number;
  /** Most rows to keep for an outage. */
  maxKept: number;
}

interface Waiter<Entry> {
  resolve(entry: Entry | null): void;
  reject(error: Error): void;
}

/** All rows in use are read again this often, so that no call of theirs has to wait. */
const REFRESH_MS = 2_500;
/** A row that a call used within this time is read again every 30 s, so that an outage of the database finds it young enough. */
const KEPT_MS = 5 * 60_000;
const REFRESHES_PER_KEPT = 12;
/** A change is effective after this time even without a notification. */
const TTL_MS = 5_000;
const MISSING_TTL_MS = 1_000;
/**
 * The time from one statement's start to the next: at most 200 statements a second, however many unknown names come. The first
 * one after a pause doesn't wait.
 */
const PAUSE_MS = 5;
/** The same while the database doesn't answer. */
const FAILING_PAUSE_MS = 250;

/**
 * Rows by name, filled only from the database (docs/decisions/0004-key-cache.md). If a row changes while a reading is under way,
 * the reading never brings back the old row.
 */
export abstract class RowCache<Row extends PayerRow, Entry extends CachedPayer> {
  readonly #slots: RowSlots<Entry>;
  /** Names without a row, and the time of that reading. */
  readonly #missing = new Map<string, number>();
  /** Names to read with the next statement, and the callers that wait for each. */
  readonly #waiting = new Map<string, Waiter<Entry>[]>();
  #isScheduled = false;
  /** Changes since the reading under way began: its rows may be outdated. */
  #changes: { ids: Set<string>; all: boolean } | undefined;
  #round = 0;
  #refreshes = 0;
  #lastReadAt = -Infinity;
  /** Whether the last statement failed. Then cached entries are served at once, so that no call waits for another failure. */
  #isFailing = false;
  readonly #refresher: NodeJS.Timeout;

  constructor(
    protected readonly deps: RowCacheDeps,
    private readonly options: RowCacheOptions,
  ) {
    this.#slots = new RowSlots(options.max);
    this.#refresher = setInterval(() => this.#refresh(), REFRESH_MS);
    this.#refresher.unref();
  }

  /** Reads the rows of names on a UTC day. Names without a row are missing from the result. */
  protected abstract read(pool: Pool, names: string[], day: string): Promise<Map<string, Row>>;

  /** Turns a row that was read at `readAt` into an entry. `former`: the entry that it replaces. */
  protected abstract enter(row: Row, readAt: number, former: Entry | undefined): Entry;

  /** The entry if it can be used at once, null if the name has no row, undefined if the row has to be read by `load`. */
  peek(name: string): Entry | null | undefined {
    const now = this.deps.clock.now();
    const slot = this.#slots.get(name);
    if (!slot) return now - (this.#missing.get(name) ?? -Infinity) < MISSING_TTL_MS ? null : undefined;
    slot.used = true;
    slot.usedAt = now;
    if (slot.changed) return undefined;
    const age = now - slot.entry.readAt;
    if (age <= TTL_MS && slot.round === this.#round) return slot.entry;
    if (!this.#isFailing || age > STALE_MS) return undefined;
    this.#enqueue(name);
    return slot.entry;
  }

  /**
   * Reads a row, in one statement with others that are requested at the same moment. Null: the name has no row.
   * @throws RowUnavailableError
   */
  load(name: string): Promise<Entry | null> {
    return new Promise((resolve, reject) => {
      this.#enqueue(name, { resolve, reject });
    });
  }

  /**
   * The entry of a name, cached or read. Null: the name has no row.
   * @throws RowUnavailableError
   */
  async find(name: string): Promise<Entry | null> {
    const known = this.peek(name);
    return known === undefined ? this.load(name) : known;
  }

  /** Reads a row again. Doesn't wait for the row while the database is known to be away. Never rejects. */
  async renew(name: string): Promise<void> {
    if (this.#isFailing) this.#enqueue(name);
    else await this.load(name).catch(() => undefined);
  }

  /** Outdates the rows that a notification concerns. */
  invalidate(change: Invalidation): void {
    if (change.kind === 'catalog') {
      this.invalidateAll();
      this.#outdate(this.#slots.values());
      return;
    }
    this.#changes?.ids.add(change.id);
    // A name may have been looked up a moment before it got its row.
    this.#missing.clear();
    this.#outdate(this.#slots.of(change.id));
  }

  /** Notifications may have been missed: reads every row again before its next use, if the database answers. */
  invalidateAll(): void {
    if (this.#changes) this.#changes.all = true;
    this.#missing.clear();
    this.#round++;
  }

  /** Whether a row of this credential or account is cached. */
  keeps(id: string): boolean {
    return this.#slots.of(id).size > 0;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Number of names that are known to have no row. */
  get missing(): number {
    return this.#missing.size;
  }

  stop(): void {
    clearInterval(this.#refresher);
  }

  /** The entry of a credential. */
  protected entryOf(id: string): Entry | undefined {
    const [slot] = this.#slots.of(id);
    return slot?.entry;
  }

  /** Outdates the entries of these accounts, or of all, for which `isConcerned` is true. */
  protected outdateSome(accountIds: readonly string[] | null, isConcerned: (entry: Entry) => boolean): void {
    if (this.#changes && accountIds === null) this.#changes.all = true;
    for (const id of accountIds ?? []) this.#changes?.ids.add(id);
    for (const slots of accountIds?.map((id) => this.#slots.of(id)) ?? [this.#slots.values()]) {
      this.#outdate([...slots].filter(({ entry }) => isConcerned(entry)));
    }
  }

  #outdate(slots: Iterable<Slot<Entry>>): void {
    for (const slot of slots) {
      slot.changed = true;
      // Read the row even without another call: calls in flight count against a cap that was set meanwhile.
      if (!slot.entry.day.idle) this.#enqueue(slot.entry.hash);
    }
  }

  /** Reads every row that was used since the last refresh; in every twelfth also those used within `KEPT_MS`. */
  #refresh(): void {
    const now = this.deps.clock.now();
    let kept = ++this.#refreshes % REFRESHES_PER_KEPT === 0 ? this.options.maxKept : 0;
    for (const slot of this.#slots.values()) {
      if (slot.used || (now - slot.usedAt <= KEPT_MS && kept-- > 0)) this.#enqueue(slot.entry.hash);
      slot.used = false;
    }
  }

  #enqueue(name: string, ...waiters: Waiter<Entry>[]): void {
    const known = this.#waiting.get(name);
    if (known) known.push(...waiters);
    else this.#waiting.set(name, waiters);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#readWaiting());
  }

  /** Reads the waiting names, one statement at a time, until none is left. */
  async #readWaiting(): Promise<void> {
    while (this.#waiting.size > 0) {
      const pause = this.#lastReadAt + (this.#isFailing ? FAILING_PAUSE_MS : PAUSE_MS) - performance.now();
      if (pause > 0) await delay(pause);
      this.#lastReadAt = performance.now();
      await this.#readBatch(this.#takeBatch());
    }
    this.#isScheduled = false;
  }

  #takeBatch(): Map<string, Waiter<Entry>[]> {
    const batch = new Map<string, Waiter<Entry>[]>();
    for (const [name, waiters] of this.#waiting) {
      if (batch.size === this.options.batch) break;
      batch.set(name, waiters);
      this.#waiting.delete(name);
    }
    return batch;
  }

  async #readBatch(batch: Map<string, Waiter<Entry>[]>): Promise<void> {
    const { pool, clock, contact, log } = this.deps;
    const changes = { ids: new Set<string>(), all: false };
    this.#changes = changes;
    const now = clock.now();
    try {
      const rows = await this.read(pool, [...batch.keys()], utcDay(now));
      this.#isFailing = false;
      contact.heard();
      for (const [name, waiters] of batch) {
        const row = rows.get(name);
        // The row changed during the reading and may be outdated, so read it again.
        if (changes.all || (row && (changes.ids.has(row.id) || changes.ids.has(row.accountId)))) {
          this.#enqueue(name, ...waiters);
          continue;
        }
        const entry = this.#settle(name, row, now, changes.ids.size > 0);
        for (const waiter of waiters) waiter.resolve(entry);
      }
    } catch (error) {
      this.#isFailing = true;
      log.debug({ err: error }, `failed to read ${this.options.what}`);
      for (const [name, waiters] of batch) this.#serveStale(name, waiters, now);
    }
    this.#changes = undefined;
  }

  #settle(name: string, row: Row | undefined, readAt: number, hasChanges: boolean): Entry | null {
    const slot = this.#slots.get(name);
    if (row) {
      const entry = this.enter(row, readAt, slot?.entry);
      this.#slots.set(entry, slot?.usedAt ?? readAt, this.#round);
      return entry;
    }
    this.#slots.delete(name);
    this.#missing.delete(name);
    // The row may have been created meanwhile: callers that wait get null, and later ones a new reading.
    if (hasChanges) return null;
    const [oldest] = this.#missing.keys();
    if (this.#missing.size >= this.options.max / 2) this.#missing.delete(oldest!);
    this.#missing.set(name, readAt);
    return null;
  }

  #serveStale(name: string, waiters: Waiter<Entry>[], now: number): void {
    const slot = this.#slots.get(name);
    const isUsable = slot && !slot.changed && now - slot.entry.readAt <= STALE_MS;
    for (const waiter of waiters) {
      if (isUsable) waiter.resolve(slot.entry);
      else waiter.reject(new RowUnavailableError());
    }
  }
}
