import type { Admission, Blocked } from './limits.js';

/** A call that waits for admission. */
export interface Waiter {
  readonly admission: Admission;
  blocked: Blocked;
  /** Whether the wait is over: decided, timed out, or the client has left. */
  done: boolean;
}

export type AdmissionOutcome = Admission | Blocked | Error;

export interface WaitQueueOptions {
  /** Tries to admit the call at the head; never rejects. */
  attempt(waiter: Waiter): AdmissionOutcome | Promise<AdmissionOutcome>;
  /** The head leaves this queue: it is decided, or blocked by something else. */
  leave(waiter: Waiter, outcome: AdmissionOutcome): void;
  readonly blocked: Blocked;
  /** The head tries again after this time even if the queue wasn't woken. */
  pollMs: number | undefined;
}

/** Calls that wait for the same balance or cap, first come, first served: only the head tries. */
export class WaitQueue {
  readonly #waiters = new Set<Waiter>();
  #trying = false;
  #wokenWhileTrying = false;
  #poll: NodeJS.Timeout | undefined;

  constructor(private readonly options: WaitQueueOptions) {}

  get size(): number {
    return this.#waiters.size;
  }

  add(waiter: Waiter): void {
    this.#waiters.add(waiter);
    this.#schedule();
  }

  delete(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    if (this.#waiters.size > 0) return;
    clearTimeout(this.#poll);
    this.#poll = undefined;
  }

  /** Lets the head try again, and then each next call, until one stays blocked. */
  wake(): void {
    if (this.#trying) {
      this.#wokenWhileTrying = true;
      return;
    }
    for (;;) {
      const { head } = this;
      if (!head) return;
      this.#wokenWhileTrying = false;
      this.#trying = true;
      const outcome = this.options.attempt(head);
      if (outcome instanceof Promise) {
        void outcome.then((settled) => {
          this.#trying = false;
          if (this.#apply(head, settled)) this.wake();
        });
        return;
      }
      this.#trying = false;
      if (!this.#apply(head, outcome)) return;
    }
  }

  /** @returns Whether the next may try. */
  #apply(head: Waiter, outcome: AdmissionOutcome): boolean {
    if (outcome === this.options.blocked && !head.done) {
      this.#schedule();
      return this.#wokenWhileTrying;
    }
    this.delete(head);
    this.options.leave(head, outcome);
    return true;
  }

  get head(): Waiter | undefined {
    const [head] = this.#waiters;
    return head;
  }

  #schedule(): void {
    if (this.options.pollMs === undefined || this.#poll || this.#waiters.size === 0) return;
    this.#poll = setTimeout(() => {
      this.#poll = undefined;
      this.wake();
    }, this.options.pollMs);
  }
}
