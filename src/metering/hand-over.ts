import type { Flusher } from './flusher.js';
import type { Pending } from './pending.js';
import type { UsageRecord } from './usage-record.js';

/** Outcome of a hand-over: each record is committed, a dead letter, or waits and counts in this process. */
export interface Handed {
  /** Whether any record waits. */
  waits: boolean;
  /** Resolves when no record waits any longer; rejects when the process stops. */
  settled: Promise<void>;
}

export interface HandOverDeps {
  flusher: Flusher;
  /** Rejects when the process stops. */
  ends: Promise<never>;
  /** Returns the ids of the records that are in the database. */
  recorded(records: UsageRecord[]): Promise<ReadonlySet<string>>;
  /** From now on these records count in this process, until they are reported as settled. */
  takeOver(records: UsageRecord[]): void;
}

/** Passes the records of dead processes to the flusher, and takes over those that have to wait there. */
export class HandOver {
  /** How many records have been handed over. */
  events = 0;
  /** Ids of records taken over and not yet settled. A copy, or another replay of the same folder, may bring them again. */
  readonly #taken = new Set<string>();

  constructor(private readonly deps: HandOverDeps) {}

  /**
   * Passes records to the flusher. Resolves when each is committed, or waits for a locked account or as a suspected dead
   * letter; by then, waiting records count in this process.
   * @param borrowed Whether the process that recorded them may be alive, or belong to another installation.
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

  /** Records that are already in the database are left out: balances contain them, although the spool still has a copy. */
  async #takeOver(waiting: ReadonlySet<Pending>): Promise<void> {
    const records = [...waiting].map(({ record }) => record);
    // If the database doesn't respond, count too much rather than too little until all of them are committed.
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
