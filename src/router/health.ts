import type { RouterSettings } from './routing.js';

/**
 * How the outcome of a call changed a deployment's health. `cooling_down_again`: another cooldown without a success since the one
 * before. `limited`: its provider named a time to wait, for the first time since its last success. `serving`: it answered after a cooldown. `suspect`: it reached the limit of failures, but requests may be the cause.
 */
export type HealthChange = 'none' | 'cooling_down' | 'cooling_down_again' | 'limited' | 'serving' | 'suspect';

/** A call that failed. */
export interface NodeFailure {
  /** No request can be the cause: the node could not be reached, or failed a probe, too. */
  certain: boolean;
  /** One of a fixed set, such as `timeout` or `status_500`. */
  reason?: string;
  /** Why the connection failed, such as `ECONNREFUSED`. */
  cause?: string | undefined;
}

/** Health of one deployment, judged by its calls. All times are milliseconds of a `ProxyTime`. */
export class Health {
  #fails = 0;
  /** Failures among `#fails` that no request can have caused. */
  #certain = 0;
  #lastFailure: string | undefined;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #path: string | undefined;
  #cooldownEnds = Number.NEGATIVE_INFINITY;
  /** Until when its provider wants no calls. */
  #limitEnds = Number.NEGATIVE_INFINITY;
  /** Whether its provider has named such a time since its last success. */
  #limited = false;
  /** Whether it cooled down and has had no success since. Repeated cooldowns are logged once. */
  #down = false;

  /** Consecutive failures. */
  get fails(): number {
    return this.#fails;
  }

  /** Why calls failed since the last success; undefined if none did. */
  get lastFailure(): string | undefined {
    if (this.#fails > 0) return this.#lastFailure;
    return this.#limited ? 'status_429' : undefined;
  }

  /** Whether it gets no calls for a time. */
  isCoolingDown(now: number): boolean {
    return this.cooldownLeft(now) > 0;
  }

  /** Whether its cooldown is over and it has answered no call since. */
  isUnproven(now: number): boolean {
    return this.#down && now >= this.#cooldownEnds && this.#answeredAt < this.#cooldownEnds;
  }

  /** Milliseconds left of its cooldown, or of the time for which its provider wants no calls; 0 outside of both. */
  cooldownLeft(now: number): number {
    return Math.max(0, this.#cooldownEnds - now, this.#limitEnds - now);
  }

  /** Whether bytes of an answer have arrived at `then` or later. */
  answeredSince(then: number): boolean {
    return this.#answeredAt >= then;
  }

  /** Whether bytes of an answer have arrived later than `then`. */
  answeredAfter(then: number): boolean {
    return this.#answeredAt > then;
  }

  /** Path of the last call that it served: `/chat/completions` or `/embeddings`; undefined before the first. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Notes that bytes of an answer have arrived. */
  answering(now: number): void {
    this.#answeredAt = now;
  }

  /** Notes a whole answer: to a call on `path`, or to a probe. */
  succeeded(now: number, path = this.#path): HealthChange {
    this.#answeredAt = now;
    this.#path = path;
    this.#fails = 0;
    this.#certain = 0;
    this.#limited = false;
    // A call that began before the cooldown doesn't end it early.
    if (!this.#down || this.isCoolingDown(now)) return 'none';
    this.#down = false;
    return 'serving';
  }

  /** Clears all failures: its node came back and has answered a probe. */
  returned(now: number): HealthChange {
    this.#answeredAt = now;
    this.#fails = 0;
    this.#certain = 0;
    this.#cooldownEnds = Math.min(this.#cooldownEnds, now);
    if (!this.#down) return 'none';
    this.#down = false;
    return 'serving';
  }

  /**
   * Notes a failed call that is the deployment's fault. Only a success resets the count, so after the cooldown the first failure
   * starts another one. Failures during a cooldown don't count: those calls began before it.
   */
  failed(now: number, settings: RouterSettings, { certain, reason, cause }: NodeFailure): HealthChange {
    if (this.isCoolingDown(now)) return 'none';
    this.#fails++;
    this.#lastFailure = cause ?? reason;
    if (certain) this.#certain++;
    const { allowedFails, cooldownMs } = settings;
    if (this.#fails < allowedFails || cooldownMs === 0) return 'none';
    // The number of affected accounts doesn't matter: accounts are easy to create.
    if (this.#certain < Math.max(1, allowedFails)) return 'suspect';
    return this.coolDown(now, settings);
  }

  /**
   * Closes it for as long as its provider asked, at most one cooldown. That doesn't count as a failure: the node works, and gets calls as
   * before when the time is over.
   */
  limit(now: number, waitMs: number, { cooldownMs }: RouterSettings): HealthChange {
    this.#limitEnds = Math.max(this.#limitEnds, now + Math.min(waitMs, cooldownMs));
    if (this.#limited) return 'none';
    this.#limited = true;
    return 'limited';
  }

  /** Starts a cooldown, unless one is running. */
  coolDown(now: number, { cooldownMs }: RouterSettings): HealthChange {
    if (this.isCoolingDown(now)) return 'none';
    this.#cooldownEnds = now + cooldownMs;
    if (this.#down) return 'cooling_down_again';
    this.#down = true;
    return 'cooling_down';
  }
}
