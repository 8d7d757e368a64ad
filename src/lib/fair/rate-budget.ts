const MINUTE_MS = 60_000;
/** Owners that are remembered; beyond it those are forgotten whose last request is longest ago. */
const MOST_OWNERS = 50_000;

interface Spent {
  units: number;
  /** Milliseconds: when `units` were true. */
  at: number;
}

/** What each owner may ask in a minute: all of it at once if they like, and as much comes back in a minute. */
export class RateBudget {
  readonly #perMinute: number;
  readonly #mostOwners: number;
  /** Least recently used first. */
  readonly #byOwner = new Map<string, Spent>();

  constructor(perMinute: number, mostOwners = MOST_OWNERS) {
    this.#perMinute = perMinute;
    this.#mostOwners = mostOwners;
  }

  /**
   * Takes units at `now` (milliseconds). A refused try takes nothing.
   * @returns milliseconds until they would be there; 0 when they were taken.
   */
  take(owner: string, now: number, units = 1): number {
    const spent = this.#byOwner.get(owner) ?? { units: 0, at: now };
    // A clock that has stepped back gives nothing back.
    const back = (Math.max(0, now - spent.at) / MINUTE_MS) * this.#perMinute;
    spent.units = Math.max(0, spent.units - back);
    spent.at = now;
    this.#byOwner.delete(owner);
    this.#byOwner.set(owner, spent);
    if (this.#byOwner.size > this.#mostOwners) this.#byOwner.delete(this.#byOwner.keys().next().value!);
    const missing = spent.units + units - this.#perMinute;
    if (missing > 0) return Math.max(1, Math.ceil((missing / this.#perMinute) * MINUTE_MS));
    spent.units += units;
    return 0;
  }
}
