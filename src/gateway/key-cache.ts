import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { Invalidation } from '../db/invalidation.js';
import type { Clock } from '../lib/clock.js';
import { utcDay } from '../lib/clock.js';
import type { Envelope } from '../lib/crypto.js';
import type { Logger } from '../lib/logger.js';
import type { Money } from '../lib/money.js';
import type { FlushResult } from '../metering/usage-record.js';
import { AccountState, KeyDayState } from './account-state.js';
import { type KeyRow, readKeys } from './key.store.js';

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
  /** The entry when it may be used at once; undefined: ask `load`. Starts a reading in the background when due. */
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
  stats(): { keys: number; accounts: number };
  stop(): void;
}

/** Background reading from this age on, so that a key in use never waits. */
const REFRESH_AFTER_MS = 2_500;
/** Notifications cut: a change is effective after this at the latest (RELIABILITY.md R8). */
const TTL_MS = 5_000;
/** While the database is unreachable entries serve up to this age (DESIGN.md step 6). */
const STALE_MS = 60_000;
const MISSING_TTL_MS = 1_000;
const MAX_KEYS = 100_000;
const MAX_MISSING = 50_000;
const BATCH = 500;
const SWEEP_MS = 60_000;

interface Slot {
  entry: KeyEntry;
  /** Changed since it was read: not to be used, not even while the database is away. */
  outdated: boolean;
  /** May have changed unnoticed: to be read again before its next use, if the database answers. */
  suspect: boolean;
  refreshing: boolean;
}

interface Waiter {
  resolve(entry: KeyEntry | null): void;
  reject(error: Error): void;
}

interface CacheDeps {
  pool: Pool;
  envelope: Envelope;
  clock: Clock;
  log: Logger;
}

export function createKeyCache(deps: CacheDeps): KeyCache {
  return new DatabaseKeyCache(deps);
}

class DatabaseKeyCache implements KeyCache {
  readonly #slots = new LRUCache<string, Slot>({ max: MAX_KEYS });
  readonly #missing: LRUCache<string, true>;
  readonly #accounts = new Map<string, AccountState>();
  readonly #days = new Map<string, KeyDayState>();
  readonly #waiting = new Map<string, Waiter[]>();
  /** Ids that changed while a reading is under way: its rows for them may be the old ones. */
  #changedDuringRead: Set<string> | undefined;
  #allChangedDuringRead = false;
  /** The last reading failed. */
  #away = false;
  #scheduled = false;
  readonly #sweeper: NodeJS.Timeout;

  constructor(private readonly deps: CacheDeps) {
    this.#missing = new LRUCache({
      max: MAX_MISSING,
      ttl: MISSING_TTL_MS,
      perf: { now: () => deps.clock.now() },
    });
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  peek(hash: string): KeyEntry | null | undefined {
    const slot = this.#slots.get(hash);
    if (!slot) return this.#missing.has(hash) ? null : undefined;
    const age = this.deps.clock.now() - slot.entry.readAt;
    // While the database is known to be away nobody waits for it to say so once more.
    if (slot.outdated || (slot.suspect && !this.#away)) return undefined;
    if (age > (this.#away ? STALE_MS : TTL_MS)) return undefined;
    if ((slot.suspect || age > REFRESH_AFTER_MS) && !slot.refreshing) {
      slot.refreshing = true;
      this.load(hash).catch(() => undefined);
    }
    return slot.entry;
  }

  load(hash: string): Promise<KeyEntry | null> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(hash);
      if (waiters) waiters.push({ resolve, reject });
      else this.#waiting.set(hash, [{ resolve, reject }]);
      this.#schedule();
    });
  }

  invalidate(change: Invalidation): void {
    if (change.kind === 'catalog') {
      this.invalidateAll();
      for (const slot of this.#slots.values()) slot.outdated = true;
      return;
    }
    this.#changedDuringRead?.add(change.id);
    for (const slot of this.#slots.values()) {
      const id = change.kind === 'key' ? slot.entry.keyId : slot.entry.account.id;
      if (id === change.id) slot.outdated = true;
    }
    // A key that was just made may have been asked for a moment before.
    this.#missing.clear();
  }

  invalidateAll(): void {
    this.#allChangedDuringRead = true;
    for (const slot of this.#slots.values()) slot.suspect = true;
    this.#missing.clear();
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

  stats(): { keys: number; accounts: number } {
    return { keys: this.#slots.size, accounts: this.#accounts.size };
  }

  stop(): void {
    clearInterval(this.#sweeper);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => void this.#readWaiting());
  }

  /** Reads what is waited for, one statement at a time, until nothing is left. */
  async #readWaiting(): Promise<void> {
    while (this.#waiting.size > 0) {
      const batch = new Map([...this.#waiting].slice(0, BATCH));
      for (const hash of batch.keys()) this.#waiting.delete(hash);
      const changed = new Set<string>();
      this.#changedDuringRead = changed;
      this.#allChangedDuringRead = false;
      const now = this.deps.clock.now();
      try {
        const rows = await readKeys(this.deps.pool, [...batch.keys()], utcDay(now));
        this.#away = false;
        this.#settle(batch, rows, changed, now);
      } catch (error) {
        this.deps.log.debug({ err: error }, 'keys could not be read');
        this.#away = true;
        for (const [hash, waiters] of batch) this.#serveStale(hash, waiters, now);
      }
    }
    this.#scheduled = false;
    this.#changedDuringRead = undefined;
  }

  #settle(batch: Map<string, Waiter[]>, rows: KeyRow[], changed: Set<string>, readAt: number): void {
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    for (const [hash, waiters] of batch) {
      const row = byHash.get(hash);
      const suspect =
        this.#allChangedDuringRead || (row && (changed.has(row.keyId) || changed.has(row.accountId)));
      // A change came while we read: this row may be the one before it, so it is read once more.
      if (suspect || (!row && changed.size > 0)) {
        const again = this.#waiting.get(hash);
        this.#waiting.set(hash, again ? [...again, ...waiters] : waiters);
        continue;
      }
      const entry = row ? this.#enter(row, readAt) : null;
      if (!entry) {
        this.#slots.delete(hash);
        this.#missing.set(hash, true);
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
    this.#slots.set(row.hash, { entry, outdated: false, suspect: false, refreshing: false });
    return entry;
  }

  #openVirtualKey(row: KeyRow): string | null {
    if (row.virtualKeySealed === null) return null;
    try {
      return `Bearer ${this.deps.envelope.open(row.virtualKeySealed, `api_key:${row.keyId}:virtual_key`).toString()}`;
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
    if (slot) slot.refreshing = false;
    const usable = slot && !slot.outdated && now - slot.entry.readAt <= STALE_MS;
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
