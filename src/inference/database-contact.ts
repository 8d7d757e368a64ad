import type { Clock } from '../lib/clock.js';

/** While the database is unreachable, cached keys are used up to this age (requirement G8). */
export const STALE_MS = 60_000;

/**
 * When the database last answered any query of this edge: active keys are read every few seconds, and so are models.
 */
export class DatabaseContact {
  #heardAt: number;

  constructor(private readonly clock: Clock) {
    this.#heardAt = clock.now();
  }

  heard(): void {
    this.#heardAt = this.clock.now();
  }

  /** Whether it has been unavailable for so long that keys are no longer served. */
  lost(): boolean {
    return this.clock.now() - this.#heardAt > STALE_MS;
  }
}
