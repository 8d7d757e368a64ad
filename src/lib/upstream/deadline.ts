import { graceTimeout } from '../grace-timeout.js';

/** A timeout that is moved often. Moving it to a later time is free, since the timer checks the time when it fires. */
export class Deadline {
  #at = Number.POSITIVE_INFINITY;
  #timerAt = Number.POSITIVE_INFINITY;
  #clearTimer: (() => void) | undefined;

  constructor(private readonly onOver: () => void) {}

  /** In milliseconds of `performance.now()`; infinite for no limit. */
  get at(): number {
    return this.#at;
  }

  set at(at: number) {
    this.#at = at;
    if (at >= this.#timerAt) return;
    this.#clearTimer?.();
    this.#timerAt = at;
    this.#clearTimer = graceTimeout(Math.max(1, Math.ceil(at - performance.now())), this.#check);
  }

  clear(): void {
    this.#clearTimer?.();
    this.#at = this.#timerAt = Number.POSITIVE_INFINITY;
  }

  readonly #check = (): void => {
    const { at } = this;
    this.clear();
    if (at > performance.now()) this.at = at;
    else this.onOver();
  };
}
