import { MINUTE_MS, utcDay } from '../../lib/clock.js';
import { Spent } from '../../lib/fair/rate-budget.js';
import type { Money } from '../../lib/money.js';
import { SlidingWindow } from '../../lib/sliding-window.js';
import { PendingCharges } from './pending-charges.js';

/** What an edge may still give out without asking the others (`limits/shared/degraded-quota.ts`). */
export interface Share {
  /** Upper bound of everything charged or held here. */
  ceiling: Money;
  /** What was left when the share was last measured. */
  left: Money;
  /** The UTC day of a share of a daily cap. */
  day: string;
  /** Calls that were admitted out of it. */
  uses: number;
}

/**
 * What this edge knows of an account's money. `balance` is the database's at ledger sequence `seq`; `pending` is
 * what this process has recorded and not yet seen committed; `holds` is the upper bound of the calls in flight.
 */
export class AccountState {
  balance: Money;
  pending: Money = 0n;
  holds: Money = 0n;
  /** Everything ever charged here, committed or not. */
  charged: Money = 0n;
  /** Calls that Redis was asked for and that aren't decided yet. */
  asking = 0;
  /** Set from the first call that was decided alone until Redis counts it and admits another. */
  share: Share | undefined;
  /** When the last reading began; 0 if there was none. */
  readAt = 0;
  readonly window: SlidingWindow;
  /** What its refused calls have spent of their budget (`refusal-budget.ts`). */
  readonly refused = new Spent();
  /** Those that its plan's rate refused; counted apart, so that they never cost it a call that the plan allows. */
  readonly refusedByRate = new Spent();
  #seq: bigint;
  /** The last reading, including one that arrived while our events were in transit. */
  #read: Money;
  #readSeq: bigint;

  constructor(
    readonly id: string,
    balance: Money,
    seq: bigint,
    requestsPerMinute: number,
  ) {
    this.balance = balance;
    this.#seq = seq;
    this.#read = balance;
    this.#readSeq = seq;
    this.window = new SlidingWindow(requestsPerMinute, MINUTE_MS);
  }

  /**
   * A balance read from the database. While our events are in transit, it may or may not include them, so only the
   * flush itself, which reports exactly, changes the balance then. The first reading counts in any case: what was taken over
   * before it waits for a lock, and so isn't included.
   */
  observe(balance: Money, seq: bigint, readAt = 0): void {
    if (readAt > this.readAt) this.readAt = readAt;
    if (seq >= this.#readSeq) {
      this.#read = balance;
      this.#readSeq = seq;
    }
    if ((this.pending === 0n || this.#seq === 0n) && seq >= this.#seq) {
      this.balance = balance;
      this.#seq = seq;
    }
  }

  /** The balance after a commit that contained `charged` of our pending events. */
  committed(balance: Money, seq: bigint): void {
    if (seq <= this.#seq) return;
    this.balance = balance;
    this.#seq = seq;
  }

  /** Ledger sequence of `balance`. */
  get seq(): bigint {
    return this.#seq;
  }

  /** A charge that waits for its commit; negative for one that will never come. */
  charge(cost: Money): void {
    this.pending += cost;
    this.charged += cost;
  }

  /** The lowest balance that the database reported recently. */
  get lowest(): Money {
    return this.#read < this.balance ? this.#read : this.balance;
  }

  /** Everything that this edge has charged or let calls hold. */
  get claims(): Money {
    return this.charged + this.holds;
  }

  /** What is available, not counting calls in progress. */
  get settledBalance(): Money {
    return this.balance - this.pending;
  }

  /** What new calls may be admitted against. */
  get available(): Money {
    return this.balance - this.pending - this.holds;
  }

  /** Whether nothing would be lost by forgetting this state. */
  get idle(): boolean {
    return this.pending === 0n && this.holds === 0n && this.asking === 0;
  }
}

/**
 * Spend of a key against its daily cap, in the same three parts. A charge counts in the UTC day of its call's end; what calls
 * in flight hold counts in whichever day it is. Widgets count months with it.
 */
export class PeriodSpend {
  holds: Money = 0n;
  charged: Money = 0n;
  /** What calls would hold that Redis was asked for and that aren't decided yet. */
  asked: Money = 0n;
  /** As of an account. */
  share: Share | undefined;
  readAt = 0;
  /** Whether a call had a daily cap: calls of before, which had none, count against it, too. */
  tracksCap = false;
  #day = '';
  #spend: Money = 0n;
  /** The last day before that one, kept since a clock may step back over midnight: what was spent then stays spent. */
  #formerDay = '';
  #formerSpend: Money = 0n;
  #readDay = '';
  #read: Money = 0n;
  readonly #pending = new PendingCharges();

  /** `dayOf` names the period that a time in milliseconds belongs to. */
  constructor(private readonly dayOf: (timeMs: number) => string = utcDay) {}

  /** Spend that was read from the database; within a day it only grows. */
  observe(day: string, spend: Money, readAt = 0): void {
    if (readAt > this.readAt) this.readAt = readAt;
    this.#readDay = day;
    this.#read = spend;
    // The first reading counts in any case, as of an account.
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

  /** A charge of `at` (milliseconds) that waits for its commit; negative for one that will never come. */
  charge(cost: Money, at: number): void {
    this.#pending.add(cost, this.dayOf(at));
    this.charged += cost;
  }

  /** A charge of `at` no longer waits: it is committed, or set aside. */
  settled(cost: Money, at: number): void {
    this.#pending.add(-cost, this.dayOf(at));
  }

  /** Charges of all days that wait for their commit. */
  get pending(): Money {
    return this.#pending.sum;
  }

  /** Charges of `day` that wait for their commit. */
  pendingOf(day: string): Money {
    return this.#pending.of(day);
  }

  /** Spend of `day` that is committed. */
  spend(day: string): Money {
    if (day === this.#day) return this.#spend;
    return day === this.#formerDay ? this.#formerSpend : 0n;
  }

  /** The highest spend on `day` that the database reported recently. */
  highest(day: string): Money {
    const spend = this.spend(day);
    return this.#readDay === day && this.#read > spend ? this.#read : spend;
  }

  /** Everything that this edge has charged or let calls hold. */
  get claims(): Money {
    return this.charged + this.holds;
  }

  /** Spend of `day` with what is on its way and in flight. */
  used(day: string): Money {
    return this.spend(day) + this.#pending.of(day) + this.holds;
  }

  get idle(): boolean {
    return this.pending === 0n && this.holds === 0n && this.asked === 0n;
  }
}
