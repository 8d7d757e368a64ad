import type { GuardAction } from '../../entities/keys/key-guard.js';
import { MINUTE_MS, utcDay } from '../../lib/clock.js';
import type { Money } from '../../lib/money.js';
import { SlidingWindow } from '../../lib/sliding-window.js';
import type { PeriodSpend } from '../limits/period-spend.js';

/** A key's guard as read from the database. */
export interface GuardRow {
  action: GuardAction;
  /** Where calls run once the guard has acted; `fallback_model` only. */
  model: string | null;
  /** The guard's percentage times the monthly limit. */
  bound: Money;
  /** The last month in which the guard acted, `YYYY-MM`. */
  actedMonth: string | null;
  /** Whether the key's owner has undone the action. */
  undone: boolean;
  /** What the key has spent in the month of the reading, without the day of the reading. */
  spentBefore: Money;
}

/** `acting`: the action applies. `held`: calls in flight may reach the bound. `idle`: neither. */
export type GuardPhase = 'acting' | 'held' | 'idle';

/** A slowed key gets a tenth of its plan's requests per minute. */
const SLOWED_TO = 10;

/**
 * The guard of a key, as read on a day. The database decides when the guard acts: in the flush whose spend reaches the bound
 * (docs/decisions/0150-guards-of-keys.md). Until this edge has read that, it applies the same rule to the spend that it knows,
 * so that no call slips through in between.
 */
export class GuardState {
  constructor(
    private readonly row: GuardRow,
    private readonly readDay: string,
    private readonly day: PeriodSpend,
    /** Calls of a slowed key. The window is passed on from one reading to the next. */
    readonly window = new SlidingWindow(1, MINUTE_MS),
  ) {}

  get action(): GuardAction {
    return this.row.action;
  }

  get model(): string | null {
    return this.row.model;
  }

  phase(now: number): GuardPhase {
    const { actedMonth, undone } = this.row;
    const today = utcDay(now);
    const month = today.slice(0, 7);
    if (actedMonth !== null && actedMonth >= month) return undone ? 'idle' : 'acting';
    // On the first day of a month, pending charges of the day before belong to another month.
    const pending = today.endsWith('-01') ? this.day.pendingOf(today) : this.day.pending;
    const spent = this.#spent(today, month) + pending;
    if (this.#isReachedBy(spent)) return 'acting';
    return this.#isReachedBy(spent + this.day.holds + this.day.asked) ? 'held' : 'idle';
  }

  /** Sets the limit of a slowed key's window: a tenth of the plan's requests per minute, divided among the edges. */
  resize(requestsPerMinute: number, edges: number): void {
    this.window.resize(Math.max(1, Math.floor(requestsPerMinute / SLOWED_TO / edges)));
  }

  /** The committed spend of a month. The day of the reading may be over, and its month too. */
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
