import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { Invalidation } from '../db/invalidation.js';
import type { Clock } from '../lib/clock.js';
import { utcDay } from '../lib/clock.js';
import type { Envelope } from '../lib/crypto.js';
import type { Logger } from '../lib/logger.js';
import type { Money } from '../lib/money.js';
import type { FlushResult } from '../metering/usage-record.js';
import { virtualKeyField } from '../services/keys/keys.rules.js';
import { AccountState, KeyDayState } from './account-state.js';
import { type DatabaseContact, STALE_MS } from './database-contact.js';
import { type KeyRow, readKeys } from './key.store.js';
import { KeySlots } from './key-slots.js';

/** An immutable version of a key's row, beside the states that live on from version to version. */
export interface KeyEntry {
  readonly hash: string;
  readonly keyId: string;
  readonly active: boolean;
  readonly dailyLimit: Money | null;
  /** `Bearer <virtual key>`, or null: `upstream_unconfigured`. */
  readonly authorization: string | null;
  readonly allowedModels: ReadonlySet<string>;
  readonly account: AccountState;
  readonly day: KeyDayState;
  readonly readAt: number;
}

/** The database can't be asked and nothing that is fresh enough is known. */
export class KeyUnavailableError extends Error {}

export interface KeyCache {
  /** The entry when it may be used at once; undefined: ask `load`. */
  peek(hash: string): KeyEntry | null | undefined;
  /**
   * Reads the key, sharing the statement with others that ask in the same moment. Null: there is no such key.
   * @throws KeyUnavailableError
   */
  load(hash: string): Promise<KeyEntry | null>;
  invalidate(change: Invalidation): void;
  /** Notifications may have been missed: everything is read again before its next use. */
  invalidateAll(): void;
  /** Takes over what a commit changed. */
  flushed(result: FlushResult): void;
  account(id: string): AccountState | undefined;
  keyDay(keyId: string): KeyDayState | undefined;
  stats(): { keys: number; accounts: number; missing: number };
  stop(): void;
}

/** Keys in use are read again so often, all of them together, so that a key in use never waits. */
const REFRESH_MS = 2_500;
/** Notifications cut: a change is effective after this at the latest (RELIABILITY.md R8). */
const TTL_MS = 5_000;
const MISSING_TTL_MS = 1_000;
export const MAX_KEYS = 100_000;
export const MAX_MISSING = 50_000;
const BATCH = 500;
/**
 * From the start of one statement to that of the next: at most 200 a second, however many unknown keys come. The
 * first of a quiet time doesn't wait.
 */
const PAUSE_MS = 5;
/** The same while the database doesn't answer. */
const FAILING_PAUSE_MS = 250;
const SWEEP_MS = 60_000;

interface Waiter {
  resolve(entry: KeyEntry | null): void;
  reject(error: Error): void;
}

interface CacheDeps {
  pool: Pool;
  envelope: Envelope;
  clock: Clock;
  log: Logger;
  contact: DatabaseContact;
}

export function createKeyCache(deps: CacheDeps): KeyCache {
  return new DatabaseKeyCache(deps);
}

class DatabaseKeyCache implements KeyCache {
  readonly #slots = new KeySlots(MAX_KEYS);
  /** Keys that don't exist, with the number of notifications until then: one more may have told of the key. */
  readonly #missing: LRUCache<string, number>;
  #notified = 0;
  readonly #accounts = new Map<string, AccountState>();
  readonly #days = new Map<string, KeyDayState>();
  readonly #waiting = new Map<string, Waiter[]>();
  /** Ids that changed while a reading is under way: its rows for them may be the old ones. */
  #changedDuringRead: Set<string> | undefined;
  #allChangedDuringRead = false;
  #scheduled = false;
  #lastReadAt = -Infinity;
  /** The last statement failed: what is known serves at once, so that no call waits for a database that is away. */
  #failing = false;
  readonly #sweeper: NodeJS.Timeout;
  readonly #refresher: NodeJS.Timeout;

  constructor(private readonly deps: CacheDeps) {
    this.#missing = new LRUCache({
      max: MAX_MISSING,
      ttl: MISSING_TTL_MS,
      perf: { now: () => deps.clock.now() },
    });
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
    this.#refresher = setInterval(() => this.#refresh(), REFRESH_MS);
    this.#refresher.unref();
  }

  peek(hash: string): KeyEntry | null | undefined {
    const slot = this.#slots.get(hash);
    if (!slot) return this.#missing.get(hash) === this.#notified ? null : undefined;
    slot.used = true;
    const age = this.deps.clock.now() - slot.entry.readAt;
    if (slot.changed) return undefined;
    if (age <= TTL_MS && !this.#slots.isSuspect(slot)) return slot.entry;
    // While the database is known to be away nobody waits for it to say so once more.
    if (!this.#failing || age > STALE_MS) return undefined;
    this.#enqueue(hash);
    return slot.entry;
  }

  load(hash: string): Promise<KeyEntry | null> {
    return new Promise((resolve, reject) => {
      this.#enqueue(hash, { resolve, reject });
    });
  }

  invalidate(change: Invalidation): void {
    if (change.kind === 'catalog') {
      this.invalidateAll();
      for (const slot of this.#slots.values()) slot.changed = true;
      return;
    }
    this.#changedDuringRead?.add(change.id);
    this.#slots.outdate(change);
    // A key that was just made may have been asked for a moment before.
    this.#notified++;
  }

  invalidateAll(): void {
    this.#allChangedDuringRead = true;
    this.#slots.suspectAll();
    this.#notified++;
  }

  flushed(result: FlushResult): void {
    for (const event of result.own) {
      const account = this.#accounts.get(event.accountId);
      if (account) account.pending -= event.cost;
      const day = event.keyId === null ? undefined : this.#days.get(event.keyId);
      if (day) day.pending -= event.cost;
    }
    for (const { id, balance, seq } of result.accounts) this.#accounts.get(id)?.committed(balance, seq);
    for (const { keyId, day, spend } of result.keyDays) this.#days.get(keyId)?.committed(day, spend);
  }

  account(id: string): AccountState | undefined {
    return this.#accounts.get(id);
  }

  keyDay(keyId: string): KeyDayState | undefined {
    return this.#days.get(keyId);
  }

  stats(): { keys: number; accounts: number; missing: number } {
    return { keys: this.#slots.size, accounts: this.#accounts.size, missing: this.#missing.size };
  }

  stop(): void {
    clearInterval(this.#sweeper);
    clearInterval(this.#refresher);
  }

  /** Reads every key that was used since the last time: one statement per 500 keys, whenever they were used. */
  #refresh(): void {
    for (const slot of this.#slots.values()) {
      if (!slot.used) continue;
      slot.used = false;
      this.#enqueue(slot.entry.hash);
    }
  }

  #enqueue(hash: string, waiter?: Waiter): void {
    const waiters = this.#waiting.get(hash);
    if (!waiters) this.#waiting.set(hash, waiter ? [waiter] : []);
    else if (waiter) waiters.push(waiter);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => void this.#readWaiting());
  }

  /** Reads what is waited for, one statement at a time, until nothing is left. */
  async #readWaiting(): Promise<void> {
    while (this.#waiting.size > 0) {
      const pause = this.#lastReadAt + (this.#failing ? FAILING_PAUSE_MS : PAUSE_MS) - performance.now();
      if (pause > 0) await delay(pause);
      this.#lastReadAt = performance.now();
      const batch = this.#takeBatch();
      const changed = new Set<string>();
      this.#changedDuringRead = changed;
      this.#allChangedDuringRead = false;
      const now = this.deps.clock.now();
      try {
        const rows = await readKeys(this.deps.pool, [...batch.keys()], utcDay(now));
        this.#failing = false;
        this.deps.contact.heard();
        this.#settle(batch, rows, changed, now);
      } catch (error) {
        this.#failing = true;
        this.deps.log.debug({ err: error }, 'keys could not be read');
        for (const [hash, waiters] of batch) this.#serveStale(hash, waiters, now);
      }
    }
    this.#scheduled = false;
    this.#changedDuringRead = undefined;
  }

  #takeBatch(): Map<string, Waiter[]> {
    const batch = new Map<string, Waiter[]>();
    for (const [hash, waiters] of this.#waiting) {
      if (batch.size === BATCH) break;
      batch.set(hash, waiters);
      this.#waiting.delete(hash);
    }
    return batch;
  }

  #settle(batch: Map<string, Waiter[]>, rows: KeyRow[], changed: Set<string>, readAt: number): void {
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    for (const [hash, waiters] of batch) {
      const row = byHash.get(hash);
      const suspect =
        this.#allChangedDuringRead || (row && (changed.has(row.keyId) || changed.has(row.accountId)));
      // A change came while we read: this row may be the one before it, so it is read once more.
      if (suspect) {
        const again = this.#waiting.get(hash);
        this.#waiting.set(hash, again ? [...again, ...waiters] : waiters);
        continue;
      }
      const entry = row ? this.#enter(row, readAt) : null;
      if (!entry) {
        this.#slots.delete(hash);
        // It may have been made meanwhile: who asked before gets this answer, who asks from now on a new one.
        if (changed.size === 0) this.#missing.set(hash, this.#notified);
      }
      for (const waiter of waiters) waiter.resolve(entry);
    }
  }

  #enter(row: KeyRow, readAt: number): KeyEntry {
    let account = this.#accounts.get(row.accountId);
    if (account) {
      account.observe(row.balance, row.ledgerSeq);
      account.window.resize(row.requestsPerMinute);
    } else {
      account = new AccountState(row.accountId, row.balance, row.ledgerSeq, row.requestsPerMinute);
      this.#accounts.set(row.accountId, account);
    }
    let day = this.#days.get(row.keyId);
    if (!day) {
      day = new KeyDayState();
      this.#days.set(row.keyId, day);
    }
    day.observe(utcDay(readAt), row.spendToday);
    const entry: KeyEntry = {
      hash: row.hash,
      keyId: row.keyId,
      active: row.active,
      dailyLimit: row.dailyLimit,
      authorization: this.#openVirtualKey(row),
      allowedModels: new Set(row.allowedModels),
      account,
      day,
      readAt,
    };
    this.#slots.set(entry);
    return entry;
  }

  #openVirtualKey(row: KeyRow): string | null {
    if (row.virtualKeySealed === null) return null;
    try {
      return `Bearer ${this.deps.envelope.open(row.virtualKeySealed, virtualKeyField(row.keyId)).toString()}`;
    } catch {
      this.deps.log.error(
        { keyId: row.keyId },
        'a virtual key does not open: was ENCRYPTION_KEY changed without ENCRYPTION_KEY_PREVIOUS?',
      );
      return null;
    }
  }

  #serveStale(hash: string, waiters: Waiter[], now: number): void {
    const slot = this.#slots.get(hash);
    const usable = slot && !slot.changed && now - slot.entry.readAt <= STALE_MS;
    for (const waiter of waiters) {
      if (usable) waiter.resolve(slot.entry);
      else waiter.reject(new KeyUnavailableError('the database does not answer'));
    }
  }

  /** Forgets states that no entry refers to and that hold no money. */
  #sweep(): void {
    const accounts = new Set<string>();
    const keys = new Set<string>();
    for (const slot of this.#slots.values()) {
      accounts.add(slot.entry.account.id);
      keys.add(slot.entry.keyId);
    }
    for (const [id, state] of this.#accounts) if (!accounts.has(id) && state.idle) this.#accounts.delete(id);
    for (const [id, state] of this.#days) if (!keys.has(id) && state.idle) this.#days.delete(id);
  }
}
