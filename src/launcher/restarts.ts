import { type BackOff, backOffMs } from '../lib/back-off.js';

export interface RestartBackOff extends BackOff {
  /** To have served for so long ends the row of failures. */
  resetAfterMs: number;
}

const DEFAULT: RestartBackOff = { firstMs: 100, maxMs: 5_000, resetAfterMs: 5_000 };

/** The pauses between the lives of a program that ends by itself. */
export class Restarts {
  #failures = 0;

  constructor(private readonly backOff: RestartBackOff = DEFAULT) {}

  /**
   * Milliseconds before it is started again, now that it has ended.
   * @param servedMs how long it served; undefined if it never came to that.
   */
  pauseMs(servedMs: number | undefined): number {
    if (servedMs !== undefined && servedMs >= this.backOff.resetAfterMs) this.#failures = 0;
    return backOffMs(this.backOff, this.#failures++);
  }
}
