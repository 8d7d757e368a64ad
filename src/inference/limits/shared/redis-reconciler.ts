import { type Clock, utcDay } from '../../../lib/clock.js';
import type { SlidingWindow } from '../../../lib/sliding-window.js';
import { type Payer, windowOf } from '../../payer.js';
import type { RedisFailover } from './redis-failover.js';
import { balanceKey, capKey, rateKey } from './redis-keys.js';
import { PATIENT_TIMEOUT_MS } from './redis-link.js';
import type { Reports } from './redis-reports.js';

/** After so many heartbeats open amounts are reported again, which corrects lost reports. */
const RECONCILE_BEATS = 5;
/** A key that was unused for so long and has nothing open isn't reported; its rate window is empty, too. */
const FORGET_MS = 65_000;
/** A key that was unused for so long and has nothing open is reported once more, in case the last report was lost. */
const SETTLED_MS = 5_000;
/** Calls of the last minute that are about to be forgotten aren't looked for. */
const FORGETTING_MS = 1_000;
const CHUNK = 100;
/** Times of admissions that one script takes. */
const TIMES = 500;

interface Touched {
  payer: Payer;
  usedAt: number;
  /** It was reported once more that nothing is open, and the key wasn't used since. */
  isSettled: boolean;
}

/** Keeps Redis informed of everything that this edge has open: again from time to time, and after an outage. */
export class Reconciler {
  /** By key. What Redis may know something of. */
  readonly #touched = new Map<string, Touched>();
  /** By window, during recovery: its number of calls at the last report, and how many calls were reported. */
  readonly #announced = new Map<string, { added: number; reported: number }>();
  readonly #reconcile: NodeJS.Timeout;
  readonly #check: NodeJS.Timeout;

  constructor(
    private readonly edge: string,
    private readonly mode: RedisFailover,
    private readonly reports: Reports,
    private readonly clock: Clock,
  ) {
    this.#reconcile = setInterval(() => this.#sweep(), RECONCILE_BEATS * mode.beatMs);
    this.#reconcile.unref();
    this.#check = setInterval(() => void this.#restoreMissing(), mode.beatMs);
    this.#check.unref();
  }

  /** What is known of a key in use. */
  payerOf(credentialId: string): Payer | undefined {
    return this.#touched.get(credentialId)?.payer;
  }

  stop(): void {
    clearInterval(this.#reconcile);
    clearInterval(this.#check);
  }

  /** Notes that a key is in use. */
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

  /** Reports everything that was in use recently, including that nothing is open any longer. */
  announce(): Promise<void> {
    return this.reports.announce([...this.#touched.values()].map(({ payer }) => payer));
  }

  /** Reports the calls of the last minute, for the others to count. */
  async announceRates(): Promise<void> {
    this.#announced.clear();
    await this.#reportRates();
  }

  /** Reports those that this edge has decided alone since. */
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
      await this.mode.link.run('reportRate', [key], args, PATIENT_TIMEOUT_MS);
      reported += some.length;
    } while (ages.length > 0);
    this.#announced.set(key, { added, reported });
  }

  /** Reports again what Redis has lost of what is open, or was admitted in the last minute: it may evict single keys. */
  async #restoreMissing(): Promise<void> {
    if (!this.mode.shared) return;
    const { epoch } = this.mode;
    const now = this.clock.now();
    const today = utcDay(now);
    /** By key: whose it is, and how many calls of the last minute it has at least. */
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
    for (let i = 0; i < all.length && epoch === this.mode.epoch; i += CHUNK) {
      const some = all.slice(i, i + CHUNK);
      const args = [`;${this.edge} ${epoch} `, ...some.map(([, { calls }]) => calls)];
      const missing = await this.mode.link
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
    // What Redis admits meanwhile would be missing from the report, and be forgotten: then with the next heartbeat.
    else if (payer.account.asking === 0) {
      this.#announced.delete(key);
      this.#reportRate(key, windowOf(payer)).catch((error: unknown) => this.mode.failed(error));
    }
  }

  #sweep(): void {
    const now = this.clock.now();
    for (const [id, touched] of this.#touched) {
      const { payer, usedAt } = touched;
      const idle = payer.account.idle && payer.day.idle;
      // Keep everything while Redis is away: it may still hold amounts that have been settled since.
      if (!this.mode.connected) continue;
      if (!idle) this.reports.report(payer);
      else if (!touched.isSettled && now - usedAt > SETTLED_MS) {
        this.reports.report(payer);
        touched.isSettled = true;
      } else if (now - usedAt > FORGET_MS) this.#touched.delete(id);
    }
  }
}
