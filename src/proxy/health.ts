import type { RouterSettings } from './routing.js';

/**
 * What a report changed. `parked_again`: parked with no success since the last time, so that its state is the same as
 * before; `serving`: it answers after having been parked.
 */
export type Change = 'none' | 'parked' | 'parked_again' | 'serving';

/** How one deployment fares. All times are milliseconds of a `ProxyTime`. */
export class Health {
  #fails = 0;
  #parkedUntil = Number.NEGATIVE_INFINITY;
  /** Parked, and no success since: it is told once, however often it is parked again. */
  #down = false;

  /** Consecutive failures. */
  get fails(): number {
    return this.#fails;
  }

  isParked(now: number): boolean {
    return now < this.#parkedUntil;
  }

  /** Milliseconds until it takes calls again; 0 when it does. */
  parkedFor(now: number): number {
    return Math.max(0, this.#parkedUntil - now);
  }

  succeeded(now: number): Change {
    this.#fails = 0;
    // A call that began before doesn't bring it back ahead of its time.
    if (!this.#down || this.isParked(now)) return 'none';
    this.#down = false;
    return 'serving';
  }

  /**
   * A call failed through its fault. Only a success resets the count, so that after its time a deployment which is
   * still dead is parked again by the first call that finds out. Calls that began before it was parked don't count.
   */
  failed(now: number, { allowedFails, cooldownMs }: RouterSettings): Change {
    if (this.isParked(now)) return 'none';
    this.#fails++;
    if (this.#fails < allowedFails || cooldownMs === 0) return 'none';
    this.#parkedUntil = now + cooldownMs;
    if (this.#down) return 'parked_again';
    this.#down = true;
    return 'parked';
  }
}
