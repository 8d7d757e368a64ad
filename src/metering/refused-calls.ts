import { HOUR_MS } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { Money } from '../lib/money.js';
import { within } from '../lib/within.js';
import { MAX_IDS, type RefusedCount } from './refused-calls.store.js';

/** A refused call of a known key, including disabled ones. */
export interface RefusedCall {
  /** The `x-request-id`, if the owner may look up the call. */
  id?: string;
  accountId: string;
  keyId: string;
  /** Error code. */
  code: string;
  /** Model of the catalog; empty if the call named none or an unknown one. */
  model: string;
  /** Milliseconds. */
  at: number;
  /** Cost, where answered calls are counted. */
  cost?: Money;
}

export interface RefusedCallsOptions {
  /** Commits counts in one transaction. Returns the counts to retry, if any. */
  write(counts: readonly RefusedCount[]): Promise<readonly RefusedCount[] | undefined>;
  /** Called with the accounts whose counts were committed. */
  onWritten(accountIds: Iterable<string>): void;
  /** Called with the number of calls that found no room in memory. */
  onLost(calls: number): void;
  log: Logger;
  intervalMs?: number;
}

const INTERVAL_MS = 1_000;
const RETRY_MS = 5_000;
/** Maximum counts in memory, about 200 bytes each, one per key, code, model and hour. */
const MAX_COUNTS = 10_000;
const BATCH = 1_000;
const STOP_WAIT_MS = 2_000;

/**
 * Counts refused calls by key, code, model and hour, and writes the counts once a second. Counts aren't money: a killed
 * process loses what it hasn't written, and a connection that breaks during a commit may count calls twice.
 */
export class RefusedCalls {
  #counts = new Map<string, RefusedCount>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #failing = false;
  #stopped = false;

  constructor(private readonly options: RefusedCallsOptions) {}

  count({ id, accountId, keyId, code, model, at, cost = 0n }: RefusedCall): void {
    const hour = at - (at % HOUR_MS);
    this.#add({ accountId, keyId, code, model, hour, calls: 1, lastAt: at, cost, ids: id ? [id] : [] });
    this.#schedule();
  }

  /** Writes the remaining counts if the database responds in time. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await within(STOP_WAIT_MS, this.#writing ?? Promise.resolve());
    if (this.#counts.size > 0) await within(STOP_WAIT_MS, this.#write());
  }

  #add(count: RefusedCount): void {
    const name = `${count.keyId} ${count.hour} ${count.code} ${count.model}`;
    const known = this.#counts.get(name);
    if (known) {
      known.calls += count.calls;
      known.cost += count.cost;
      known.lastAt = Math.max(known.lastAt, count.lastAt);
      for (const id of count.ids) known.ids.push(id);
      if (known.ids.length > MAX_IDS) known.ids = known.ids.slice(-MAX_IDS);
    } else if (this.#counts.size < MAX_COUNTS) {
      this.#counts.set(name, count);
    } else {
      this.options.onLost(count.calls);
    }
  }

  #schedule(): void {
    if (this.#timer || this.#writing || this.#stopped) return;
    const wait = this.#failing ? RETRY_MS : (this.options.intervalMs ?? INTERVAL_MS);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined;
        if (this.#counts.size > 0) this.#schedule();
      });
    }, wait).unref();
  }

  async #write(): Promise<void> {
    const taken = [...this.#counts.values()];
    this.#counts = new Map();
    for (let from = 0; from < taken.length; from += BATCH) {
      const batch = taken.slice(from, from + BATCH);
      try {
        const left = await this.options.write(batch);
        for (const count of left ?? []) this.#add(count);
        this.#failing = false;
        this.options.onWritten(new Set(batch.map(({ accountId }) => accountId)));
      } catch (error) {
        if (!this.#failing) {
          this.options.log.warn({ err: error }, 'failed to write the counts of refused calls; will retry');
        }
        this.#failing = true;
        for (const count of taken.slice(from)) this.#add(count);
        return;
      }
    }
  }
}
