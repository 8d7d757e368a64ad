import { utcDay } from '../../lib/clock.js';
import type { Money } from '../../lib/money.js';
import type { Share } from './account-state.js';

/**
 * Spend of a key against its daily cap: committed, pending and held. A charge counts in the UTC day in which its call ended;
 * holds count in the current day, whichever it is. Widgets use this class to count months, and messages by day.
 */
export class PeriodSpend {
  holds: Money = 0n;
  charged: Money = 0n;
  /** Holds of calls that Redis has yet to decide. */
  asked: Money = 0n;
  /** As in `AccountState`. */
  share: Share | undefined;
  readAt = 0;
  /** Whether the key has ever had a daily cap. From then on, earlier calls count against the cap too. */
  tracksCap = false;
  #day = '';
  #spend: Money = 0n;
  /** The day before `#day`. Kept because a clock may step back over midnight, and spend never shrinks. */
  #formerDay = '';
  #formerSpend: Money = 0n;
  #readDay = '';
  #read: Money = 0n;
  readonly #pending = new PendingCharges();

  /** `dayOf` names the period that a time in milliseconds belongs to. */
  constructor(private readonly dayOf: (timeMs: number) => string = utcDay) {}

  /** Takes a reading from the database; within a day, spend only grows. */
  observe(day: string, spend: Money, readAt = 0): void {
    if (readAt > this.readAt) this.readAt = readAt;
    this.#readDay = day;
    this.#read = spend;
    // The first reading always counts, as in AccountState.
    if (this.#pending.of(day) !== 0n && this.#day !== '') return;
    this.committed(day, spend);
  }

  /** Spend after a commit. */
  committed(day: string, spend: Money): void {
    if (day > this.#day) {
      this.#formerDay = this.#day;
      this.#formerSpend = this.#spend;
      this.#day = day;
      this.#spend = spend;
    } else if (day === this.#day) {
      if (spend > this.#spend) this.#spend = spend;
    } else if (day > this.#formerDay || (day === this.#formerDay && spend > this.#formerSpend)) {
      this.#formerDay = day;
      this.#formerSpend = spend;
    }
  }

  /** Adds a charge of the time `at` (milliseconds) that waits for its commit; negative: the charge will never be committed. */
  charge(cost: Money, at: number): void {
    this.#pending.add(cost, this.dayOf(at));
    this.charged += cost;
  }

  /** A charge of the time `at` no longer waits: it is committed, or set aside. */
  settled(cost: Money, at: number): void {
    this.#pending.add(-cost, this.dayOf(at));
  }

  /** Uncommitted charges of all days. */
  get pending(): Money {
    return this.#pending.sum;
  }

  /** Uncommitted charges of `day`. */
  pendingOf(day: string): Money {
    return this.#pending.of(day);
  }

  /** Committed spend of `day`. */
  spend(day: string): Money {
    if (day === this.#day) return this.#spend;
    return day === this.#formerDay ? this.#formerSpend : 0n;
  }

  /** The highest spend on `day` that the database reported recently. */
  highest(day: string): Money {
    const spend = this.spend(day);
    return this.#readDay === day && this.#read > spend ? this.#read : spend;
  }

  /** All that this edge has ever charged, and its holds. */
  get claims(): Money {
    return this.charged + this.holds;
  }

  /** Spend of `day`: committed, pending and held. */
  used(day: string): Money {
    return this.spend(day) + this.#pending.of(day) + this.holds;
  }

  get idle(): boolean {
    return this.pending === 0n && this.holds === 0n && this.asked === 0n;
  }
}

/** Uncommitted charges, by the period in which they count: `YYYY-MM-DD` or `YYYY-MM`. */
export class PendingCharges {
  /** Charges of all periods. */
  sum: Money = 0n;
  /** The latest period. Nearly all charges belong to it. */
  #period = '';
  #latest: Money = 0n;
  #others: Map<string, Money> | undefined;

  /** Adds a charge; negative: a charge was committed, or never will be. */
  add(charge: Money, period: string): void {
    this.sum += charge;
    if (period === this.#period) {
      this.#latest += charge;
      return;
    }
    if (period > this.#period) {
      if (this.#latest !== 0n) this.#addOther(this.#latest, this.#period);
      this.#period = period;
      this.#latest = charge;
      return;
    }
    this.#addOther(charge, period);
  }

  of(period: string): Money {
    return period === this.#period ? this.#latest : (this.#others?.get(period) ?? 0n);
  }

  #addOther(charge: Money, period: string): void {
    this.#others ??= new Map();
    const charges = (this.#others.get(period) ?? 0n) + charge;
    if (charges === 0n) this.#others.delete(period);
    else this.#others.set(period, charges);
  }
}
