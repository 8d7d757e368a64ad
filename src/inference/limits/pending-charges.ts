import type { Money } from '../../lib/money.js';

/**
 * Charges that wait for their commit, by the period they count in: `YYYY-MM-DD` or `YYYY-MM`. What belongs to earlier
 * periods than the last one is kept as one sum.
 */
export class PendingCharges {
  /** Charges of all periods. */
  sum: Money = 0n;
  #period = '';
  #last: Money = 0n;

  /** Adds a charge; negative for one that was committed or never will be. */
  add(charge: Money, period: string): void {
    this.sum += charge;
    if (period === this.#period) {
      this.#last += charge;
    } else if (period > this.#period) {
      this.#period = period;
      this.#last = charge;
    }
  }

  /** Charges of a period; for one before the last, those of all earlier ones. */
  of(period: string): Money {
    if (period === this.#period) return this.#last;
    return period < this.#period ? this.sum - this.#last : 0n;
  }

  /** The period of the latest charge; empty before the first. */
  get period(): string {
    return this.#period;
  }
}
