import type { Flusher } from './flusher.js';
import type { Pending } from './pending.js';
import type { UsageRecord } from './usage-record.js';

/** Records of a dead process that the flusher has: each is committed, set aside, or waits and counts here. */
export interface Handed {
  /** Whether some wait. */
  waits: boolean;
  /** Resolves when none waits any longer; rejects when the process stops. */
  settled: Promise<void>;
}

export interface HandOverDeps {
  flusher: Flusher;
  /** Rejects when the process stops. */
  ends: Promise<never>;
  /** Ids of those that the database has. */
  recorded(records: UsageRecord[]): Promise<ReadonlySet<string>>;
  /** From now on these count in this process, until they are reported as settled. */
  takeOver(records: UsageRecord[]): void;
}

/** Gives what dead processes have recorded to the flusher, and takes over what has to wait there. */
export class HandOver {
  /** How many records have been handed over: each is committed, set aside, or waits. */
  events = 0;
  /** Those that were taken over and aren't settled: a copy, or another replay of the same folder, brings them again. */
  readonly #taken = new Set<string>();

  constructor(private readonly deps: HandOverDeps) {}

  /**
   * Gives records to the flusher, and resolves when it is through with all but those that wait: for accounts that are locked,
   * or as dead letters. Those count in this process by then.
   * @param borrowed Of a process that may live, or be another installation's.
   * @throws What `ends` rejects with.
   */
  async commit(records: readonly UsageRecord[], since: number, borrowed = false): Promise<Handed> {
    const { flusher, ends } = this.deps;
    const through = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const waiting = new Set<Pending>();
    let open = records.length;
    const look = (): void => {
      if (open === waiting.size) through.resolve();
      if (open === 0) over.resolve();
    };
    for (const record of records) {
      const pending: Pending = {
        record,
        own: false,
        borrowed,
        position: Number.POSITIVE_INFINITY,
        since,
        settled: () => {
          open--;
          waiting.delete(pending);
          if (pending.own) this.#taken.delete(record.id);
          look();
        },
        delayed() {
          waiting.add(pending);
          look();
        },
      };
      flusher.add(pending);
    }
    await Promise.race([through.promise, ends]);
    if (waiting.size > 0) await this.#takeOver(waiting);
    this.events += records.length;
    const settled = Promise.race([over.promise, ends]);
    settled.catch(() => undefined);
    return { waits: open > 0, settled };
  }

  /** A balance contains what the database has already, although the spool may still hold it. */
  async #takeOver(waiting: ReadonlySet<Pending>): Promise<void> {
    const records = [...waiting].map(({ record }) => record);
    // A database that doesn't say counts too much rather than too little, until it has all of them.
    const recorded = await this.deps.recorded(records).catch(() => new Set<string>());
    const taken: Pending[] = [];
    for (const pending of waiting) {
      const { id } = pending.record;
      if (recorded.has(id) || this.#taken.has(id)) continue;
      this.#taken.add(id);
      taken.push(pending);
    }
    this.deps.takeOver(taken.map(({ record }) => record));
    for (const pending of taken) pending.own = true;
  }
}
