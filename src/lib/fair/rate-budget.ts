import { MINUTE_MS } from '../clock.js';

/** Beyond this many owners, the one that spent least recently is forgotten. */
const MOST_OWNERS = 50_000;

/** What one owner has spent of a budget per minute. Spent units return evenly, all of them within a minute. */
export class Spent {
  #units = 0;
  /** When `units` was last updated, in milliseconds. */
  #at = 0;

  /** Milliseconds until `units` are available; 0 if they are available now. */
  waitMs(now: number, perMinute: number, units = 1): number {
    if (this.#units === 0 && units <= perMinute) return 0;
    this.#recover(now, perMinute);
    const missing = this.#units + units - perMinute;
    return missing > 0 ? Math.max(1, Math.ceil((missing / perMinute) * MINUTE_MS)) : 0;
  }

  /** Spends units, even if they aren't available. The debt is bounded: one unit is available again within a minute. */
  add(now: number, perMinute: number, units: number): void {
    this.#recover(now, perMinute);
    this.#units = Math.min(this.#units + units, 2 * perMinute - 1);
  }

  #recover(now: number, perMinute: number): void {
    // A clock that stepped back returns no units.
    const back = (Math.max(0, now - this.#at) / MINUTE_MS) * perMinute;
    this.#units = Math.max(0, this.#units - back);
    this.#at = now;
  }
}

/** What each owner may spend per minute. All units may be spent at once; spent units return within a minute. */
export class RateBudget {
  /** The owner that spent least recently comes first. */
  readonly #byOwner = new Map<string, Spent>();

  constructor(
    private readonly perMinute: number,
    private readonly mostOwners = MOST_OWNERS,
  ) {}

  /** Milliseconds until `owner` has `units` available; 0 if they are available now. `now` is in milliseconds. */
  waitMs(owner: string, now: number, units = 1): number {
    return this.#byOwner.get(owner)?.waitMs(now, this.perMinute, units) ?? 0;
  }

  /** Spends units, even if they aren't available. */
  spend(owner: string, now: number, units = 1): void {
    const spent = this.#byOwner.get(owner) ?? new Spent();
    spent.add(now, this.perMinute, units);
    this.#byOwner.delete(owner);
    this.#byOwner.set(owner, spent);
    if (this.#byOwner.size > this.mostOwners) this.#byOwner.delete(this.#byOwner.keys().next().value!);
  }

  /** Spends units if they are available. @returns 0 if they were spent, otherwise milliseconds until they are available. */
  take(owner: string, now: number, units = 1): number {
    const waitMs = this.waitMs(owner, now, units);
    if (waitMs === 0) this.spend(owner, now, units);
    return waitMs;
  }
}
