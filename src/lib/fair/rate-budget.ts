import { MINUTE_MS } from '../clock.js';

/** Beyond this many owners, the one that spent longest ago is forgotten. */
const MOST_OWNERS = 50_000;

/** What one owner has spent of a budget per minute. It comes back evenly, all of it within a minute. */
export class Spent {
  #units = 0;
  /** When `units` was last updated, in milliseconds. */
  #at = 0;

  /** Milliseconds until `units` are available; 0 if they are. */
  waitMs(now: number, perMinute: number, units = 1): number {
    if (this.#units === 0 && units <= perMinute) return 0;
    this.#recover(now, perMinute);
    const missing = this.#units + units - perMinute;
    return missing > 0 ? Math.max(1, Math.ceil((missing / perMinute) * MINUTE_MS)) : 0;
  }

  /** Spends units, whether they are there or not. Nobody waits longer than a minute for one unit. */
  add(now: number, perMinute: number, units: number): void {
    this.#recover(now, perMinute);
    this.#units = Math.min(this.#units + units, 2 * perMinute - 1);
  }

  #recover(now: number, perMinute: number): void {
    // A clock that has stepped back gives nothing back.
    const back = (Math.max(0, now - this.#at) / MINUTE_MS) * perMinute;
    this.#units = Math.max(0, this.#units - back);
    this.#at = now;
  }
}

/** What each owner may spend in a minute: all of it at once if they like, and as much comes back in a minute. */
export class RateBudget {
  /** The one who spent something the longest ago comes first. */
  readonly #byOwner = new Map<string, Spent>();

  constructor(
    private readonly perMinute: number,
    private readonly mostOwners = MOST_OWNERS,
  ) {}

  /** Milliseconds until `owner` has so many units; 0: now. Times are in milliseconds. */
  waitMs(owner: string, now: number, units = 1): number {
    return this.#byOwner.get(owner)?.waitMs(now, this.perMinute, units) ?? 0;
  }

  /** Spends units, whether they are there or not. */
  spend(owner: string, now: number, units = 1): void {
    const spent = this.#byOwner.get(owner) ?? new Spent();
    spent.add(now, this.perMinute, units);
    this.#byOwner.delete(owner);
    this.#byOwner.set(owner, spent);
    if (this.#byOwner.size > this.mostOwners) this.#byOwner.delete(this.#byOwner.keys().next().value!);
  }

  /** Spends units if they are there. @returns milliseconds until they would be; 0 when they were spent. */
  take(owner: string, now: number, units = 1): number {
    const waitMs = this.waitMs(owner, now, units);
    if (waitMs === 0) this.spend(owner, now, units);
    return waitMs;
  }
}
