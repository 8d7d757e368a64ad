import { type BackOff, backOffMs } from '../lib/back-off.js';

export interface RestartBackOff extends BackOff {
  /** A life this long ends the row of failures. */
  resetAfterMs: number;
}

const DEFAULT: RestartBackOff = { firstMs: 100, maxMs: 5_000, resetAfterMs: 30_000 };

/** The pauses between the lives of a program that ends by itself. */
export class Restarts {
  #failures = 0;

  constructor(private readonly backOff: RestartBackOff = DEFAULT) {}

  /** Milliseconds before it is started again, now that it has ended. */
  pauseMs(livedMs: number): number {
    if (livedMs >= this.backOff.resetAfterMs) this.#failures = 0;
    return backOffMs(this.backOff, this.#failures++);
  }
}
