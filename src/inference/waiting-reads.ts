/** Who waits for a row, and what becomes of it. */
export interface Waiter<Entry> {
  resolve(entry: Entry | null): void;
  reject(error: Error): void;
}

/** Names whose rows are to be read with the next statement, and who waits for each. */
export class WaitingReads<Entry> {
  readonly #waiting = new Map<string, Waiter<Entry>[]>();

  constructor(private readonly batch: number) {}

  get size(): number {
    return this.#waiting.size;
  }

  /** Adds a name, for those who wait for it, if any. */
  add(name: string, ...waiters: Waiter<Entry>[]): void {
    const known = this.#waiting.get(name);
    if (known) known.push(...waiters);
    else this.#waiting.set(name, waiters);
  }

  /** Takes out as many names as one statement reads, in the order in which they came. */
  take(): Map<string, Waiter<Entry>[]> {
    const taken = new Map<string, Waiter<Entry>[]>();
    for (const [name, waiters] of this.#waiting) {
      if (taken.size === this.batch) break;
      taken.set(name, waiters);
      this.#waiting.delete(name);
    }
    return taken;
  }
}
