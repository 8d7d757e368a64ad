/** What is late if it hasn't moved on in time. */
export interface Awaited {
  /** When it is late, in milliseconds of `performance.now()`; infinite: never. */
  readonly dueAt: number;
  late(): void;
}

/** Looks after many waits with one timer, which is set to when the first of them could be late. */
export class LateWatch {
  #timer: NodeJS.Timeout | undefined;
  #lookAt = Number.POSITIVE_INFINITY;

  /** @param all Those that wait at the moment; it may change while it is read. */
  constructor(private readonly all: () => Iterable<Awaited>) {}

  /** One of them is late if it hasn't moved on by then. */
  lookBy(dueAt: number): void {
    if (dueAt >= this.#lookAt) return;
    clearTimeout(this.#timer);
    this.#lookAt = dueAt;
    this.#timer = setTimeout(this.#look, Math.max(1, Math.ceil(dueAt - performance.now()))).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** What has arrived while the process was busy is read first. */
  readonly #look = (): void => void setImmediate(this.#endLate);

  readonly #endLate = (): void => {
    this.#lookAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const one of [...this.all()]) {
      if (one.dueAt <= now) one.late();
      else next = Math.min(next, one.dueAt);
    }
    this.lookBy(next);
  };
}
