import type { GuardAction } from '../../entities/keys/key-guard.js';
import { MINUTE_MS, utcDay } from '../../lib/clock.js';
import type { Money } from '../../lib/money.js';
import { SlidingWindow } from '../../lib/sliding-window.js';
import type { PeriodSpend } from '../limits/account-state.js';

/** What is read of a key's guard. */
export interface GuardRow {
  action: GuardAction;
  /** Where calls run once it has acted; `fallback_model` only. */
  model: string | null;
  /** Its percentage times the monthly limit. */
  bound: Money;
  /** The last month in which it acted, `YYYY-MM`. */
  actedMonth: string | null;
  /** Its owner has undone that. */
  undone: boolean;
  /** What the key has spent in the month of the reading, without the day of the reading. */
  spentBefore: Money;
}

/**
 * `acting`: its action applies. `held`: calls in flight may bring the key there. `idle`: neither.
 */
export type GuardStand = 'acting' | 'held' | 'idle';

/** A slowed key gets this part of its plan's requests per minute. */
const SLOWED_TO = 10;

/**
 * The guard of a key, as it was read on a day. The database decides when it has acted, with the flush that brings the
 * spend there (docs/decisions/0150-guards-of-keys.md). Until that is known here, what this process knows of the spend
 * decides likewise, so that no call slips through between.
 */
export class GuardState {
  constructor(
    private readonly row: GuardRow,
    private readonly readDay: string,
    private readonly day: PeriodSpend,
    /** Calls of a slowed key; it lives on from one reading to the next. */
    readonly window = new SlidingWindow(1, MINUTE_MS),
  ) {}

  get action(): GuardAction {
    return this.row.action;
  }

  get model(): string | null {
    return this.row.model;
  }

  stand(now: number): GuardStand {
    const { actedMonth, undone } = this.row;
    const today = utcDay(now);
    const month = today.slice(0, 7);
    if (actedMonth !== null && actedMonth >= month) return undone ? 'idle' : 'acting';
    // On the first day of a month, what the day before has not committed yet belongs to another month.
    const pending = today.endsWith('-01') ? this.day.pendingOf(today) : this.day.pending;
    const spent = this.#spent(today, month) + pending;
    if (this.#isReachedBy(spent)) return 'acting';
    return this.#isReachedBy(spent + this.day.holds + this.day.asked) ? 'held' : 'idle';
  }

  /** Sets what `window` allows a slowed key: its part of the plan's requests per minute, shared with other edges. */
  resize(requestsPerMinute: number, edges: number): void {
    this.window.resize(Math.max(1, Math.floor(requestsPerMinute / SLOWED_TO / edges)));
  }

  /** What is committed of the spend of a month. The day of the reading may be over, and its month too. */
  #spent(today: string, month: string): Money {
    if (!this.readDay.startsWith(month)) return this.day.spend(today);
    const since = today > this.readDay ? this.day.spend(today) : 0n;
    return this.row.spentBefore + this.day.spend(this.readDay) + since;
  }

  /** Zero spend never reaches a limit, not even a limit of 0. */
  #isReachedBy(spent: Money): boolean {
    return spent > 0n && spent * 100n >= this.row.bound;
  }
}
