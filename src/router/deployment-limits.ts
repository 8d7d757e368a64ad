import { FairQueue, type Leave } from '../lib/fair/fair-queue.js';
import type { LimitSettings } from './routing.js';

const SECONDS = 60;
const MS_PER_SECOND = 1000;
const NOTHING: Leave = () => undefined;

/** A sum over the last minute, in steps of one second. All times are milliseconds of a `ProxyTime`. */
class LastMinute {
  /** By second, with the current one. */
  readonly #sums = new Float64Array(SECONDS + 1);
  #second = 0;
  #total = 0;

  add(now: number, amount: number): void {
    this.#expire(now);
    this.#sums[this.#second % this.#sums.length]! += amount;
    this.#total += amount;
  }

  /** Milliseconds until the sum is below `limit`; 0 if it is now. */
  waitMs(now: number, limit: number): number {
    this.#expire(now);
    let left = this.#total;
    for (let second = this.#second - SECONDS; left >= limit && second <= this.#second; second++) {
      left -= this.#sums[(second + this.#sums.length) % this.#sums.length]!;
      if (left < limit) return Math.max(1, (second + this.#sums.length) * MS_PER_SECOND - now);
    }
    return 0;
  }

  #expire(now: number): void {
    const second = Math.floor(now / MS_PER_SECOND);
    const steps = Math.min(second - this.#second, this.#sums.length);
    for (let step = 1; step <= steps; step++) {
      const at = (this.#second + step) % this.#sums.length;
      this.#total -= this.#sums[at]!;
      this.#sums[at] = 0;
    }
    this.#second = Math.max(second, this.#second);
  }
}

/**
 * What this process may send to one deployment: `rpm`, `tpm` and `max_parallel_requests`. Beyond the first two, it is closed as after a
 * 429 of its provider; beyond the third, calls wait for their turn, which accounts get in turns.
 */
export class DeploymentLimits {
  readonly #calls = new LastMinute();
  readonly #tokens = new LastMinute();
  #slots: FairQueue | undefined;
  #running = 0;

  constructor(private settings: LimitSettings) {
    this.#slots = slotsOf(settings);
  }

  /** Whether tokens of answers count. */
  get countsTokens(): boolean {
    return this.settings.tokensPerMinute !== undefined;
  }

  /** Whether another call would have to wait for one that is running. */
  get isFull(): boolean {
    return this.#running >= (this.settings.parallel ?? Number.POSITIVE_INFINITY);
  }

  /** Takes over the settings of a reloaded file. Calls that run or wait keep their place by the former ones. */
  change(settings: LimitSettings): this {
    if (settings.parallel !== this.settings.parallel) this.#slots = slotsOf(settings);
    this.settings = settings;
    return this;
  }

  /** Milliseconds until it may get another call; 0 if it may now. */
  waitMs(now: number): number {
    const { callsPerMinute, tokensPerMinute } = this.settings;
    const calls = callsPerMinute === undefined ? 0 : this.#calls.waitMs(now, callsPerMinute);
    return tokensPerMinute === undefined ? calls : Math.max(calls, this.#tokens.waitMs(now, tokensPerMinute));
  }

  /** Counts a call that is sent. */
  sent(now: number): void {
    if (this.settings.callsPerMinute !== undefined) this.#calls.add(now, 1);
  }

  /** Counts the tokens of a call that has ended. */
  used(now: number, tokens: number): void {
    if (tokens > 0) this.#tokens.add(now, tokens);
  }

  /** Waits for a turn, until `signal` aborts. @returns What ends the turn; undefined if the signal came first. */
  enter(owner: string, signal: AbortSignal): Promise<Leave | undefined> | Leave {
    const slots = this.#slots;
    if (!slots) return NOTHING;
    const started = (leave: Leave): Leave => {
      this.#running++;
      return () => {
        this.#running--;
        leave();
      };
    };
    const free = slots.tryEnter(owner);
    if (free) return started(free);
    return new Promise((resolve) => {
      const stop = (): void => {
        leaveQueue();
        resolve(undefined);
      };
      const leaveQueue = slots.join(
        owner,
        (leave) => {
          signal.removeEventListener('abort', stop);
          resolve(started(leave));
        },
        stop,
      );
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}

const slotsOf = ({ parallel }: LimitSettings): FairQueue | undefined =>
  parallel === undefined ? undefined : new FairQueue({ atOnce: parallel });
