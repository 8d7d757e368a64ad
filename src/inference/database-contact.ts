import type { Clock } from '../lib/clock.js';

/** While the database is unreachable, cached keys are used up to this age (requirement G8). */
export const STALE_MS = 60_000;

/** When the database last answered a query of this edge, which reads active keys and models every few seconds. */
export class DatabaseContact {
  #heardAt: number;

  constructor(private readonly clock: Clock) {
    this.#heardAt = clock.now();
  }

  heard(): void {
    this.#heardAt = this.clock.now();
  }

  /** Whether the database has been unavailable for so long that cached keys are no longer used. */
  lost(): boolean {
    return this.clock.now() - this.#heardAt > STALE_MS;
  }
}
