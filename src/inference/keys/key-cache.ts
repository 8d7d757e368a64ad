import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Invalidation } from '../../db/invalidation.js';
import type { Clock } from '../../lib/clock.js';
import { utcDay } from '../../lib/clock.js';
import type { Envelope } from '../../lib/crypto.js';
import type { Logger } from '../../lib/logger.js';
import type { FlushResult } from '../../metering/usage-record.js';
import { type DatabaseContact, STALE_MS } from '../database-contact.js';
import type { AccountState, DayState } from '../limits/account-state.js';
import type { Payer } from '../payer.js';
import { type Waiter, WaitingReads } from '../waiting-reads.js';
import { type KeyRow, readKeys } from './key.store.js';
import { KeySlots } from './key-slots.js';
import { type AccountRow, type KeyEntry, KeyStates } from './key-states.js';
import { MissingKeys } from './missing-keys.js';

/** The database can't be asked and nothing that is fresh enough is known. */
export class KeyUnavailableError extends Error {}

export interface KeyCache {
  /** The entry if it can be used immediately; otherwise undefined: call `load`. */
  peek(hash: string): KeyEntry | null | undefined;
  /**
   * Reads the key, sharing the statement with others that ask in the same moment. Null: there is no such key.
   * @throws KeyUnavailableError
   */
  load(hash: string): Promise<KeyEntry | null>;
  /** Reads the key again. While the database is known to be away nothing is waited for. Never rejects. */
  renew(hash: string): Promise<void>;
  invalidate(change: Invalidation): void;
  /** Notifications may have been missed: everything is read again before its next use. */
  invalidateAll(): void;
  /** Called with a key that had no daily cap and has one now, as soon as this is read. */
  onCapped(listener: (payer: Payer) => void): void;
  /** Guards of keys of these accounts may have acted; null: of any account. */
  guardsActed(accountIds: readonly string[] | null): void;
  /** Takes over what a commit changed. */
  flushed(result: FlushResult): void;
  account(id: string): AccountState | undefined;
  /** The account of a charge that a dead process has recorded, whether or not anything was read of it. */
  accountOf(id: string): AccountState;
  /** Who pays for such a charge. */
  payerOf(accountId: string, keyId: string): Payer;
  /** The account that others than API keys call for, with what was read of it at `readAt`. */
  shareAccount(row: AccountRow, readAt: number): AccountState;
  /** Says which accounts others than API keys know: they are not forgotten. */
  useAccounts(used: () => Iterable<string>): void;
  keyDay(keyId: string): DayState | undefined;
  stats(): { keys: number; accounts: number; missing: number };
  stop(): void;
}

/** Keys in use are read again so often, all of them together, so that a key in use never waits. */
const REFRESH_MS = 2_500;
/** A key stays read for so long after its last call, so that a person's next one doesn't wait either. */
const WARM_MS = 5 * 60_000;
/** Keys that are kept warm without a call since the last refresh: four statements of 500. */
const MAX_WARM = 2_000;
/** Notifications cut: a change is effective after this at the latest (RELIABILITY.md R8). */
const TTL_MS = 5_000;
export const MAX_KEYS = 100_000;
const BATCH = 500;
/**
 * From the start of one statement to that of the next: at most 200 a second, however many unknown keys come. The
 * first of a quiet time doesn't wait.
 */
const PAUSE_MS = 5;
/** The same while the database doesn't answer. */
const FAILING_PAUSE_MS = 250;
const SWEEP_MS = 60_000;

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
  readonly #missing: MissingKeys;
  readonly #states: KeyStates;
  readonly #waiting = new WaitingReads<KeyEntry>(BATCH);
  /** Ids that changed while a reading is under way: its rows for them may be the old ones. */
  #changedDuringRead: Set<string> | undefined;
  #allChangedDuringRead = false;
  #scheduled = false;
  #usedElsewhere: () => Iterable<string> = () => [];
  #onCapped: (payer: Payer) => void = () => undefined;
  #lastReadAt = -Infinity;
  /**
   * The last statement failed: known entries are served immediately, so that no call waits for an unavailable database.
   */
  #failing = false;
  readonly #sweeper: NodeJS.Timeout;
  readonly #refresher: NodeJS.Timeout;

  constructor(private readonly deps: CacheDeps) {
    this.#missing = new MissingKeys(deps.clock);
    this.#states = new KeyStates(deps);
    this.#sweeper = setInterval(
      () => this.#states.sweep(this.#slots.values(), this.#usedElsewhere()),
      SWEEP_MS,
    );
    this.#sweeper.unref();
    this.#refresher = setInterval(() => this.#refresh(), REFRESH_MS);
    this.#refresher.unref();
  }

  peek(hash: string): KeyEntry | null | undefined {
    const slot = this.#slots.get(hash);
    if (!slot) return this.#missing.has(hash) ? null : undefined;
    const now = this.deps.clock.now();
    slot.used = true;
    slot.usedAt = now;
    const age = now - slot.entry.readAt;
    if (slot.changed) return undefined;
    if (age <= TTL_MS && !this.#slots.isSuspect(slot)) return slot.entry;
    // While the database is known to be unavailable, no call waits for another failure.
    if (!this.#failing || age > STALE_MS) return undefined;
    this.#enqueue(hash);
    return slot.entry;
  }

  load(hash: string): Promise<KeyEntry | null> {
    return new Promise((resolve, reject) => {
      this.#enqueue(hash, { resolve, reject });
    });
  }

  async renew(hash: string): Promise<void> {
    if (this.#failing) this.#enqueue(hash);
    else await this.load(hash).catch(() => undefined);
  }

  invalidate(change: Invalidation): void {
    if (change.kind === 'catalog') {
      this.invalidateAll();
      for (const slot of this.#slots.values()) slot.changed = true;
      return;
    }
    this.#changedDuringRead?.add(change.id);
    const key = this.#slots.outdate(change);
    // Calls in flight count against a cap that was set meanwhile, whether or not there is another call.
    if (key && !key.day.idle) this.#enqueue(key.hash);
    this.#missing.notified();
  }

  invalidateAll(): void {
    this.#allChangedDuringRead = true;
    this.#slots.suspectAll();
    this.#missing.notified();
  }

  onCapped(listener: (payer: Payer) => void): void {
    this.#onCapped = listener;
  }

  guardsActed(accountIds: readonly string[] | null): void {
    for (const id of accountIds ?? []) this.#changedDuringRead?.add(id);
    if (accountIds === null) this.#allChangedDuringRead = true;
    this.#slots.outdateGuarded(accountIds);
  }

  flushed(result: FlushResult): void {
    this.#states.flushed(result);
  }

  account(id: string): AccountState | undefined {
    return this.#states.account(id);
  }

  accountOf(id: string): AccountState {
    return this.#states.accountOf(id);
  }

  payerOf(accountId: string, keyId: string): Payer {
    return this.#slots.ofKey(keyId) ?? this.#states.unreadPayer(accountId, keyId);
  }

  shareAccount(row: AccountRow, readAt: number): AccountState {
    return this.#states.shareAccount(row, readAt);
  }

  useAccounts(used: () => Iterable<string>): void {
    this.#usedElsewhere = used;
  }

  keyDay(keyId: string): DayState | undefined {
    return this.#states.keyDay(keyId);
  }

  stats(): { keys: number; accounts: number; missing: number } {
    return { keys: this.#slots.size, accounts: this.#states.size, missing: this.#missing.size };
  }

  stop(): void {
    clearInterval(this.#sweeper);
    clearInterval(this.#refresher);
  }

  /** Reads every key that was used since the last time, and a bounded number of those used not long ago. */
  #refresh(): void {
    const now = this.deps.clock.now();
    let warm = 0;
    for (const slot of this.#slots.values()) {
      if (slot.used || (now - slot.usedAt <= WARM_MS && warm++ < MAX_WARM)) this.#enqueue(slot.entry.hash);
      slot.used = false;
    }
  }

  #enqueue(hash: string, ...waiters: Waiter<KeyEntry>[]): void {
    this.#waiting.add(hash, ...waiters);
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
      const batch = this.#waiting.take();
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
        this.deps.log.debug({ err: error }, 'failed to read API keys');
        for (const [hash, waiters] of batch) this.#serveStale(hash, waiters, now);
      }
    }
    this.#scheduled = false;
    this.#changedDuringRead = undefined;
  }

  #settle(
    batch: Map<string, Waiter<KeyEntry>[]>,
    rows: KeyRow[],
    changed: Set<string>,
    readAt: number,
  ): void {
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    for (const [hash, waiters] of batch) {
      const row = byHash.get(hash);
      const suspect =
        this.#allChangedDuringRead || (row && (changed.has(row.keyId) || changed.has(row.accountId)));
      // A change came while we read: this row may be the one before it, so it is read once more.
      if (suspect) {
        this.#waiting.add(hash, ...waiters);
        continue;
      }
      const former = this.#slots.get(hash)?.entry;
      const entry = row ? this.#states.enter(row, readAt, former) : null;
      if (entry) {
        this.#slots.set(entry);
        if (entry.dailyLimit !== null && former?.dailyLimit === null) this.#onCapped(entry);
      } else {
        this.#slots.delete(hash);
        // It may have been created in the meantime: earlier callers get this answer, later ones a new one.
        if (changed.size === 0) this.#missing.add(hash);
      }
      for (const waiter of waiters) waiter.resolve(entry);
    }
  }

  #serveStale(hash: string, waiters: Waiter<KeyEntry>[], now: number): void {
    const slot = this.#slots.get(hash);
    const usable = slot && !slot.changed && now - slot.entry.readAt <= STALE_MS;
    for (const waiter of waiters) {
      if (usable) waiter.resolve(slot.entry);
      else waiter.reject(new KeyUnavailableError('the database did not respond'));
    }
  }
}
