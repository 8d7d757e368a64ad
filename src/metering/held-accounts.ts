import type { Pool } from 'pg';
import { type BackOff, backOffMs } from '../lib/back-off.js';
import type { Logger } from '../lib/logger.js';
import { unlockedAccounts } from './flush.store.js';
import type { Pending } from './pending.js';

/** The events of a locked account, oldest first. */
interface Held {
  pendings: Pending[];
  tries: number;
  /** Monotonic milliseconds of the next try. */
  dueAt: number;
}

export interface HeldAccountsDeps {
  pool: Pool;
  log: Logger;
  /** Commits events, or calls `setApart` again. */
  commit(batch: Pending[]): Promise<void>;
  /** Removes all events of an account from the flusher, oldest first; from now on they wait here. */
  takeOut(accountId: string): Pending[];
}

const RETRY: BackOff = { firstMs: 125, maxMs: 2_000 };
const MAX_BATCH = 1_000;
/**
 * More lock timeouts in a row than this mean that a table is locked, not single rows: halving 1,000 accounts finds the
 * locked one in ten steps.
 */
const MAX_FAULTS = 12;
/** Bounds one round: an account locked in rows other than its own makes each try wait for the whole lock timeout. */
const MAX_TRIES_IN_VAIN = 3;

const accountOf = ({ record }: Pending): string => record.accountId;

/** Keeps the events of locked accounts in order, so that the events of other accounts don't wait for them. */
export class HeldAccounts {
  readonly #accounts = new Map<string, Held>();
  #events = 0;
  /** Lock timeouts since the last commit. */
  #faults = 0;

  constructor(private readonly deps: HeldAccountsDeps) {}

  /** How many events wait. */
  get events(): number {
    return this.#events;
  }

  get empty(): boolean {
    return this.#accounts.size === 0;
  }

  /** When to retry the next account, in monotonic milliseconds; Infinity if there are no held accounts. */
  dueAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#accounts.values()].map(({ dueAt }) => dueAt));
  }

  /** When the oldest event was recorded; Infinity if there are no held accounts. */
  oldestSince(): number {
    const firsts = [...this.#accounts.values()].map(({ pendings }) => pendings[0]!.since);
    return Math.min(Number.POSITIVE_INFINITY, ...firsts);
  }

  *pendings(): Generator<Pending> {
    for (const { pendings } of this.#accounts.values()) yield* pendings;
  }

  /** Queues the events of held accounts behind their earlier ones, and returns the rest of the batch. */
  keepOut(batch: Pending[]): Pending[] {
    if (this.empty) return batch;
    return batch.filter((pending) => {
      const held = this.#accounts.get(accountOf(pending));
      if (held) this.#add(held, [pending]);
      return !held;
    });
  }

  /** Removes events that are settled or wait elsewhere now. */
  remove(done: readonly Pending[]): void {
    if (this.empty) return;
    const gone = new Set(done);
    for (const id of new Set(done.map(accountOf))) {
      const held = this.#accounts.get(id);
      if (!held) continue;
      const left = held.pendings.filter((pending) => !gone.has(pending));
      this.#events -= held.pendings.length - left.length;
      held.pendings = left;
      if (left.length === 0) this.#accounts.delete(id);
    }
  }

  /** Call after a commit, and at the beginning of a round of flushes. */
  progress(): void {
    this.#faults = 0;
  }

  /**
   * Handles a batch that timed out waiting for a lock: holds the locked accounts and commits the others. If no account row
   * itself is locked, halving the batch finds the account that the lock belongs to.
   * @throws `fault` if a whole table seems to be locked.
   */
  async setApart(batch: Pending[], fault: unknown): Promise<void> {
    if (++this.#faults > MAX_FAULTS) throw fault;
    const ids = [...new Set(batch.map(accountOf))];
    const free = ids.length > 1 ? await this.#unlocked(ids) : [];
    const isFree = new Set(free);
    for (const id of ids) if (!isFree.has(id)) this.#hold(id);
    const rest = batch.filter((pending) => isFree.has(accountOf(pending)));
    if (free.length < ids.length) {
      if (rest.length > 0) await this.deps.commit(rest);
      return;
    }
    const half = new Set(ids.slice(0, ids.length >> 1));
    await this.deps.commit(rest.filter((pending) => half.has(accountOf(pending))));
    await this.deps.commit(rest.filter((pending) => !half.has(accountOf(pending))));
  }

  /** Retries the accounts that are due and no longer locked, one at a time. */
  async retry(): Promise<void> {
    const now = performance.now();
    const due = [...this.#accounts].filter(([, { dueAt }]) => dueAt <= now).map(([id]) => id);
    if (due.length === 0) return;
    const free = new Set(await this.#unlocked(due));
    for (const id of due) if (!free.has(id)) this.#postpone(this.#accounts.get(id)!);
    for (const id of free) if (this.#faults < MAX_TRIES_IN_VAIN) await this.#commit(id);
  }

  async #unlocked(ids: string[]): Promise<string[]> {
    const unlocked = await unlockedAccounts(this.deps.pool, ids);
    // The database returns ids in lower case; records may have them in upper case.
    return ids.filter((id) => unlocked.has(id.toLowerCase()));
  }

  async #commit(accountId: string): Promise<void> {
    const waiting = [...this.#accounts.get(accountId)!.pendings];
    for (let from = 0; from < waiting.length; from += MAX_BATCH) {
      const batch = waiting.slice(from, from + MAX_BATCH);
      await this.deps.commit(batch);
      // Locked again: the later events wait, too.
      if (this.#accounts.get(accountId)?.pendings[0] === batch[0]) return;
    }
    this.deps.log.info(
      { accountId, events: waiting.length },
      'flushed the usage of a previously locked account',
    );
  }

  #hold(accountId: string): void {
    const known = this.#accounts.get(accountId);
    if (known) {
      this.#postpone(known);
      return;
    }
    const held: Held = { pendings: [], tries: 0, dueAt: 0 };
    this.#accounts.set(accountId, held);
    this.#postpone(held);
    this.#add(held, this.deps.takeOut(accountId));
    this.deps.log.warn({ accountId }, 'an account is locked in the database; its usage is waiting');
  }

  #postpone(held: Held): void {
    held.tries++;
    held.dueAt = performance.now() + backOffMs(RETRY, held.tries);
  }

  #add(held: Held, pendings: readonly Pending[]): void {
    this.#events += pendings.length;
    for (const pending of pendings) {
      held.pendings.push(pending);
      pending.delayed?.();
    }
  }
}
