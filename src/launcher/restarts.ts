import { type BackOff, backOffMs } from '../lib/back-off.js';

export interface RestartBackOff extends BackOff {
  /** After having served this long, pauses start from `firstMs` again. */
  resetAfterMs: number;
}

const DEFAULT: RestartBackOff = { firstMs: 100, maxMs: 5_000, resetAfterMs: 5_000 };

/** Computes the pauses before the restarts of a program that keeps ending. */
export class Restarts {
  #failures = 0;

  constructor(private readonly backOff: RestartBackOff = DEFAULT) {}

  /**
   * Milliseconds to wait before the next start. Call it once after each end.
   * @param servedMs How long the program served; undefined if it never did.
   */
  pauseMs(servedMs: number | undefined): number {
    if (servedMs !== undefined && servedMs >= this.backOff.resetAfterMs) this.#failures = 0;
    return backOffMs(this.backOff, this.#failures++);
  }
}
