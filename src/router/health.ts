import type { RouterSettings } from './routing.js';

/**
 * What a report changed. `parked_again`: parked with no success since the last time, so that its state is the same as
 * before; `serving`: it answers after having been parked; `suspect`: it would be parked, but requests may be all that is
 * wrong.
 */
export type Change = 'none' | 'parked' | 'parked_again' | 'serving' | 'suspect';

/** A call that failed. */
export interface NodeFailure {
  /** No request can be the reason: the node could not be reached, or failed a call of our own too. */
  certain: boolean;
  /** One of few words. */
  reason?: string;
  /** What broke the connection, such as `ECONNREFUSED`. */
  cause?: string | undefined;
}

/** How one deployment fares. All times are milliseconds of a `ProxyTime`. */
export class Health {
  #fails = 0;
  /** Of these, the ones that no request can have caused. */
  #certain = 0;
  /** Why the last of them failed. */
  #lastFailure: string | undefined;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #path: string | undefined;
  #parkedUntil = Number.NEGATIVE_INFINITY;
  /** Parked, and no success since: logged once, however often it is parked again. */
  #down = false;

  /** Consecutive failures. */
  get fails(): number {
    return this.#fails;
  }

  /** Why the last call failed; undefined when the last one didn't. */
  get lastFailure(): string | undefined {
    return this.#fails > 0 ? this.#lastFailure : undefined;
  }

  isParked(now: number): boolean {
    return now < this.#parkedUntil;
  }

  /** Whether it was parked, takes calls again, and has answered nobody since. */
  isTrying(now: number): boolean {
    return this.#down && now >= this.#parkedUntil && this.#answeredAt < this.#parkedUntil;
  }

  /** Milliseconds until it takes calls again; 0 when it does. */
  parkedFor(now: number): number {
    return Math.max(0, this.#parkedUntil - now);
  }

  /** Whether it has answered any call since then. */
  answeredSince(then: number): boolean {
    return this.#answeredAt >= then;
  }

  /** Whether bytes from it have arrived later than that. */
  answeredAfter(then: number): boolean {
    return this.#answeredAt > then;
  }

  /** What it last served: `/chat/completions` or `/embeddings`; undefined when it has served nothing yet. */
  get path(): string | undefined {
    return this.#path;
  }

  /** It answers a call, though that isn't over yet. */
  answering(now: number): void {
    this.#answeredAt = now;
  }

  /** It has answered: a caller on that path, or else a call of our own. */
  succeeded(now: number, path = this.#path): Change {
    this.#answeredAt = now;
    this.#path = path;
    this.#fails = 0;
    this.#certain = 0;
    // A call that began before doesn't bring it back ahead of its time.
    if (!this.#down || this.isParked(now)) return 'none';
    this.#down = false;
    return 'serving';
  }

  /** Its node was away, is back and has answered a call of our own: what was before counts no more. */
  returned(now: number): Change {
    this.#answeredAt = now;
    this.#fails = 0;
    this.#certain = 0;
    this.#parkedUntil = Math.min(this.#parkedUntil, now);
    if (!this.#down) return 'none';
    this.#down = false;
    return 'serving';
  }

  /**
   * A call failed through its fault. Only a success resets the count, so that after its time a deployment which is
   * still dead is parked again by the first call that finds out. Calls that began before it was parked don't count.
   */
  failed(now: number, settings: RouterSettings, { certain, reason, cause }: NodeFailure): Change {
    if (this.isParked(now)) return 'none';
    this.#fails++;
    this.#lastFailure = cause ?? reason;
    if (certain) this.#certain++;
    const { allowedFails, cooldownMs } = settings;
    if (this.#fails < allowedFails || cooldownMs === 0) return 'none';
    // Regardless of how many accounts were affected: free accounts are easy to create.
    if (this.#certain < Math.max(1, allowedFails)) return 'suspect';
    return this.park(now, settings);
  }

  /** Takes no calls for the settings' time. */
  park(now: number, { cooldownMs }: RouterSettings): Change {
    if (this.isParked(now)) return 'none';
    this.#parkedUntil = now + cooldownMs;
    if (this.#down) return 'parked_again';
    this.#down = true;
    return 'parked';
  }
}
