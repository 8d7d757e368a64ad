import { type Clock, utcDay } from '../../../lib/clock.js';
import type { SlidingWindow } from '../../../lib/sliding-window.js';
import { type Payer, windowOf } from '../../payer.js';
import type { RedisFailover } from './redis-failover.js';
import { balanceKey, capKey, rateKey } from './redis-keys.js';
import { PATIENT_TIMEOUT_MS } from './redis-link.js';
import type { Reports } from './redis-reports.js';

/** Open amounts are reported again after this many heartbeats, which corrects lost reports. */
const RECONCILE_BEATS = 5;
/** A payer without open amounts is forgotten after this long without a call; its rate window is empty by then. */
const FORGET_MS = 65_000;
/** A payer without open amounts is reported once more after this long without a call, in case the last report was lost. */
const SETTLED_MS = 5_000;
/** Calls that leave the minute within this time aren't checked. */
const FORGETTING_MS = 1_000;
const CHUNK = 100;
/** Most admission times per script. */
const TIMES = 500;

interface Touched {
  payer: Payer;
  usedAt: number;
  /** Whether the last report, without open amounts, was repeated and the payer unused since. */
  isSettled: boolean;
}

/** Repeats this edge's reports to Redis: from time to time, after an outage, and when Redis has lost a key. */
export class Reconciler {
  /** Payers of which Redis may have amounts, by credential. */
  readonly #touched = new Map<string, Touched>();
  /** By rate key, during recovery: the window's count at the last report, and how many calls were reported. */
  readonly #announced = new Map<string, { added: number; reported: number }>();
  readonly #reconcile: NodeJS.Timeout;
  readonly #check: NodeJS.Timeout;

  constructor(
    private readonly edge: string,
    private readonly failover: RedisFailover,
    private readonly reports: Reports,
    private readonly clock: Clock,
  ) {
    this.#reconcile = setInterval(() => this.#sweep(), RECONCILE_BEATS * failover.beatMs);
    this.#reconcile.unref();
    this.#check = setInterval(() => void this.#restoreMissing(), failover.beatMs);
    this.#check.unref();
  }

  payerOf(credentialId: string): Payer | undefined {
    return this.#touched.get(credentialId)?.payer;
  }

  stop(): void {
    clearInterval(this.#reconcile);
    clearInterval(this.#check);
  }

  /** Notes that a payer is in use. */
  touch(payer: Payer): void {
    if (payer.dailyLimit !== null) payer.day.tracksCap = true;
    const touched = this.#touched.get(payer.credential.id);
    const usedAt = this.clock.now();
    if (!touched) {
      this.#touched.set(payer.credential.id, { payer, usedAt, isSettled: false });
      return;
    }
    touched.payer = payer;
    touched.usedAt = usedAt;
    touched.isSettled = false;
  }

  /** Reports all payers used recently, including those without open amounts. */
  announce(): Promise<void> {
    return this.reports.announce([...this.#touched.values()].map(({ payer }) => payer));
  }

  /** Reports the calls of the last minute. */
  async announceRates(): Promise<void> {
    this.#announced.clear();
    await this.#reportRates();
  }

  /** Reports the calls that this edge has admitted alone since `announceRates`. */
  async announceLaterRates(): Promise<void> {
    await this.#reportRates();
    this.#announced.clear();
  }

  async #reportRates(): Promise<void> {
    const windows = new Map(
      [...this.#touched.values()].map(({ payer }) => [rateKey(payer), windowOf(payer)]),
    );
    const all = [...windows];
    for (let i = 0; i < all.length; i += CHUNK) {
      await Promise.all(all.slice(i, i + CHUNK).map(([key, window]) => this.#reportRate(key, window)));
    }
  }

  async #reportRate(key: string, window: SlidingWindow): Promise<void> {
    const now = this.clock.now();
    const { added } = window;
    const known = this.#announced.get(key);
    if (known?.added === added) return;
    const times = window.times(now);
    const ages = times
      .slice(known ? Math.max(0, times.length - added + known.added) : 0)
      .map((time) => now - time);
    let reported = known?.reported ?? 0;
    do {
      const some = ages.splice(0, TIMES);
      const args = [this.edge, reported, ...some];
      await this.failover.link.run('reportRate', [key], args, PATIENT_TIMEOUT_MS);
      reported += some.length;
    } while (ages.length > 0);
    this.#announced.set(key, { added, reported });
  }

  /** Reports again the amounts and calls of the last minute that Redis has lost. Redis may evict single keys. */
  async #restoreMissing(): Promise<void> {
    if (!this.failover.shared) return;
    const { epoch } = this.failover;
    const now = this.clock.now();
    const today = utcDay(now);
    /** By Redis key: the payer, and the fewest calls of the last minute that the key must have. */
    const reported = new Map<string, { payer: Payer; calls: number }>();
    for (const { payer } of this.#touched.values()) {
      const { account, day } = payer;
      // Redis forgets a call a moment before this edge does.
      const calls = windowOf(payer).times(now + FORGETTING_MS).length;
      if (calls > 0) reported.set(rateKey(payer), { payer, calls });
      if (account.idle && day.idle) continue;
      reported.set(balanceKey(account.id), { payer, calls: 0 });
      if (day.tracksCap) reported.set(capKey(payer, today), { payer, calls: 0 });
    }
    const all = [...reported];
    for (let i = 0; i < all.length && epoch === this.failover.epoch; i += CHUNK) {
      const some = all.slice(i, i + CHUNK);
      const args = [`;${this.edge} ${epoch} `, ...some.map(([, { calls }]) => calls)];
      const missing = await this.failover.link
        .run<number[]>(
          'missing',
          some.map(([key]) => key),
          args,
          PATIENT_TIMEOUT_MS,
        )
        .catch((): number[] => []);
      for (const nth of missing) this.#restore(...some[nth - 1]!);
    }
  }

  #restore(key: string, { payer, calls }: { payer: Payer; calls: number }): void {
    if (calls === 0) this.reports.report(payer);
    // Otherwise wait for the next heartbeat: a call that Redis admits meanwhile would be missing from the report.
    else if (payer.account.asking === 0) {
      this.#announced.delete(key);
      this.#reportRate(key, windowOf(payer)).catch((error: unknown) => this.failover.failed(error));
    }
  }

  #sweep(): void {
    const now = this.clock.now();
    for (const [id, touched] of this.#touched) {
      const { payer, usedAt } = touched;
      const idle = payer.account.idle && payer.day.idle;
      // Forget nothing while Redis is away: it may still count amounts that have been settled since.
      if (!this.failover.connected) continue;
      if (!idle) this.reports.report(payer);
      else if (!touched.isSettled && now - usedAt > SETTLED_MS) {
        this.reports.report(payer);
        touched.isSettled = true;
      } else if (now - usedAt > FORGET_MS) this.#touched.delete(id);
    }
  }
}
