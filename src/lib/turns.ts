/** Long work that pauses often: each piece, up to the next `yield`, takes a fraction of a millisecond. */
export type Work<T> = Generator<undefined, T>;

/** Receives the result of work or the error it threw. Must not throw. */
export type WorkEnd<T> = (error: unknown, result: T | undefined) => void;

interface Job {
  readonly owner: string;
  readonly work: Work<unknown>;
  readonly end: WorkEnd<unknown>;
}

/** A turn delays everybody by its length, and a call waits for the event loop about five times on its way. */
const TURN_MS = 2;

/**
 * Does the long work of a process in short turns of the event loop. There is one turn at a time, however much work
 * waits. Owners take turns, and the work of one owner is done in the order in which it came.
 */
export class Turns {
  /** Work that waits, by owner. The owner whose turn it is comes first. */
  readonly #owners = new Map<string, Job[]>();
  #scheduled = false;
  /** What `begin` has taken of this turn of the event loop. */
  #begunMs = 0;
  #counting = false;

  constructor(private readonly turnMs = TURN_MS) {}

  /**
   * Queues work. `end` is called once, never from here.
   * @returns Gives the work up, after which `end` isn't called.
   */
  take<T>(owner: string, work: Work<T>, end: WorkEnd<T>): () => void {
    const job: Job = { owner, work, end: end as WorkEnd<unknown> };
    const jobs = this.#owners.get(owner);
    if (jobs) jobs.push(job);
    else this.#owners.set(owner, [job]);
    this.#schedule();
    return () => this.#remove(job);
  }

  /**
   * Does work at once, as far as this turn of the event loop has time for it: all that begins in it shares the time of one
   * turn. What is left is queued. `end` may be called from here.
   * @returns Gives up what was queued; undefined: nothing was.
   */
  begin<T>(owner: string, work: Work<T>, end: WorkEnd<T>): (() => void) | undefined {
    if (this.#begunMs >= this.turnMs || this.#owners.has(owner)) return this.take(owner, work, end);
    const began = performance.now();
    const until = began + this.turnMs - this.#begunMs;
    let step: IteratorResult<undefined, T>;
    let now = began;
    try {
      do {
        step = work.next();
        now = performance.now();
      } while (!step.done && now < until);
    } catch (error) {
      this.#count(performance.now() - began);
      end(error, undefined);
      return undefined;
    }
    this.#count(now - began);
    if (!step.done) return this.take(owner, work, end);
    end(undefined, step.value);
    return undefined;
  }

  #count(ms: number): void {
    this.#begunMs += ms;
    if (this.#counting) return;
    this.#counting = true;
    setImmediate(this.#newTurn);
  }

  readonly #newTurn = (): void => {
    this.#counting = false;
    this.#begunMs = 0;
  };

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    const next = this.#owners.entries().next().value;
    if (!next) return;
    const [owner, jobs] = next;
    const [job] = jobs;
    if (job) this.#goOn(job);
    // Back to the end of the line.
    this.#owners.delete(owner);
    if (jobs.length > 0) this.#owners.set(owner, jobs);
    if (this.#owners.size > 0) this.#schedule();
  };

  #goOn(job: Job): void {
    const until = performance.now() + this.turnMs;
    let step: IteratorResult<undefined, unknown>;
    try {
      do step = job.work.next();
      while (!step.done && performance.now() < until);
    } catch (error) {
      if (this.#remove(job)) job.end(error, undefined);
      return;
    }
    if (step.done && this.#remove(job)) job.end(undefined, step.value);
  }

  /** @returns Whether it was still there. */
  #remove(job: Job): boolean {
    const jobs = this.#owners.get(job.owner);
    const at = jobs?.indexOf(job) ?? -1;
    if (!jobs || at < 0) return false;
    jobs.splice(at, 1);
    return true;
  }
}
