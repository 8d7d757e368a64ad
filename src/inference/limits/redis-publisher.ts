import type { Clock } from '../../lib/clock.js';
import type { SlidingWindow } from '../../lib/sliding-window.js';
import { type Payer, windowOf } from '../payer.js';
import { rateKey } from './redis-keys.js';
import { PATIENT_TIMEOUT_MS } from './redis-link.js';
import type { RedisMode } from './redis-mode.js';
import type { Turns } from './redis-turns.js';

/** After so many heartbeats open amounts are reported again, which corrects lost reports. */
const RETELL_BEATS = 5;
/** A key that was unused for so long and has nothing open isn't reported; its rate window is empty, too. */
const FORGET_MS = 65_000;
const CHUNK = 100;
/** Times of admissions that one script takes. */
const TIMES = 500;

interface Touched {
  payer: Payer;
  usedAt: number;
}

/** Keeps Redis informed of everything that this edge has open: again from time to time, and after an outage. */
export class Publisher {
  /** By key. What Redis may know something of. */
  readonly #touched = new Map<string, Touched>();
  /** Calls that Redis has been told of on this way back, by the name of their window: how many, and before which time. */
  readonly #announced = new Map<string, { before: number; count: number }>();
  readonly #retell: NodeJS.Timeout;

  constructor(
    private readonly edge: string,
    private readonly mode: RedisMode,
    private readonly turns: Turns,
    private readonly clock: Clock,
  ) {
    this.#retell = setInterval(() => this.#sweep(), RETELL_BEATS * mode.beatMs);
    this.#retell.unref();
  }

  /** What is known of a key in use. */
  payerOf(credentialId: string): Payer | undefined {
    return this.#touched.get(credentialId)?.payer;
  }

  stop(): void {
    clearInterval(this.#retell);
  }

  /** Notes that a key is in use. */
  touch(payer: Payer): void {
    if (payer.dailyLimit !== null) payer.day.isCapped = true;
    const touched = this.#touched.get(payer.credential.id);
    const usedAt = this.clock.now();
    if (!touched) {
      this.#touched.set(payer.credential.id, { payer, usedAt });
      return;
    }
    touched.payer = payer;
    touched.usedAt = usedAt;
  }

  /** Reports everything that was in use recently, including that nothing is open any longer. */
  announce(): Promise<void> {
    return this.turns.announce([...this.#touched.values()].map(({ payer }) => payer));
  }

  /** Reports the calls of the last minute, for the others to count. */
  async announceRates(): Promise<void> {
    this.#announced.clear();
    // More calls of this very millisecond may come: all of them are reported later.
    await this.#tellRates(this.clock.now());
  }

  /** Reports those that this edge has decided alone since. */
  async announceLaterRates(): Promise<void> {
    await this.#tellRates(Number.POSITIVE_INFINITY);
    this.#announced.clear();
  }

  async #tellRates(before: number): Promise<void> {
    const windows = new Map(
      [...this.#touched.values()].map(({ payer }) => [rateKey(payer), windowOf(payer)]),
    );
    const all = [...windows];
    for (let i = 0; i < all.length; i += CHUNK) {
      const some = all.slice(i, i + CHUNK);
      await Promise.all(some.map(([key, window]) => this.#tellRate(key, window, before)));
    }
  }

  async #tellRate(key: string, window: SlidingWindow, before: number): Promise<void> {
    const now = this.clock.now();
    const known = this.#announced.get(key);
    // A clock that has been put back since says nothing about what is new.
    const announced = known && now >= known.before ? known : undefined;
    const ages = window
      .times(now)
      .filter((time) => time < before && (!announced || time >= announced.before))
      .map((time) => now - time);
    if (announced && ages.length === 0) return;
    let told = announced?.count ?? 0;
    do {
      const some = ages.splice(0, TIMES);
      const args = [this.edge, told, ...some];
      await this.mode.link.run('retellRate', [key], args, undefined, PATIENT_TIMEOUT_MS);
      told += some.length;
    } while (ages.length > 0);
    this.#announced.set(key, { before, count: told });
  }

  #sweep(): void {
    const now = this.clock.now();
    for (const [id, { payer, usedAt }] of this.#touched) {
      const idle = payer.account.idle && payer.day.idle;
      // Keep everything while Redis is away: it may still hold amounts that have been settled since.
      if (!this.mode.connected) continue;
      if (!idle) this.turns.restate(payer);
      else if (now - usedAt > FORGET_MS) this.#touched.delete(id);
    }
  }
}
