import { MINUTE_MS } from '../../lib/clock.js';
import { Spent } from '../../lib/fair/rate-budget.js';
import type { Money } from '../../lib/money.js';
import { SlidingWindow } from '../../lib/sliding-window.js';

/** What this edge may admit without asking Redis (`limits/shared/degraded-quota.ts`). */
export interface Share {
  /** Upper bound of everything charged or held on this edge. */
  ceiling: Money;
  /** What was left of the balance or cap when the share was last measured. */
  left: Money;
  /** The UTC day of a share of a daily cap; empty for a balance. */
  day: string;
  /** Calls that were admitted out of the share. */
  uses: number;
}

/**
 * What this edge knows of an account's money. `balance` is the database's at ledger sequence `seq`. `pending` is the sum of
 * the charges that this process has recorded and that aren't committed yet. `holds` is the upper bound of the cost of its
 * calls in flight.
 */
export class AccountState {
  balance: Money;
  pending: Money = 0n;
  holds: Money = 0n;
  /** Everything ever charged on this edge, committed or not. */
  charged: Money = 0n;
  /** Calls that Redis has yet to decide. */
  asking = 0;
  /** Set by the first call that this edge admits alone. Cleared once Redis has counted that call and admits another. */
  share: Share | undefined;
  /** When the last reading began; 0 without a reading. */
  readAt = 0;
  readonly window: SlidingWindow;
  /** What refused calls have used of their budget (`refusal-budget.ts`). */
  readonly refused = new Spent();
  /** The same for calls refused by the plan's rate. Counted apart, so that they never cost a call that the plan allows. */
  readonly refusedByRate = new Spent();
  #seq: bigint;
  /** The last reading, even if it came while our events were in transit. */
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
   * Takes a balance read from the database. While our events are in transit, the reading may or may not include them. Then
   * only the flush changes the balance, since the flush reports exactly what it contained. The first reading always counts:
   * charges adopted before it wait for a lock, so the reading can't include them.
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

  /** Adds a charge that waits for its commit; negative: the charge will never be committed. */
  charge(cost: Money): void {
    this.pending += cost;
    this.charged += cost;
  }

  /** The lower of the balance and the last reading. */
  get lowest(): Money {
    return this.#read < this.balance ? this.#read : this.balance;
  }

  /** All that this edge has ever charged, and its holds. */
  get claims(): Money {
    return this.charged + this.holds;
  }

  /** The balance without pending charges; holds aren't subtracted. */
  get settledBalance(): Money {
    return this.balance - this.pending;
  }

  /** What new calls may hold. */
  get available(): Money {
    return this.balance - this.pending - this.holds;
  }

  /** Whether nothing would be lost by forgetting this state. */
  get idle(): boolean {
    return this.pending === 0n && this.holds === 0n && this.asking === 0;
  }
}
