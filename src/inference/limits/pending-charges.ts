import type { Money } from '../../lib/money.js';

/** Charges that wait for their commit, by the period they count in: `YYYY-MM-DD` or `YYYY-MM`. */
export class PendingCharges {
  /** Charges of all periods. */
  sum: Money = 0n;
  /** The latest period, which nearly all charges belong to. */
  #period = '';
  #latest: Money = 0n;
  #others: Map<string, Money> | undefined;

  /** Adds a charge; negative for one that was committed or never will be. */
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

  /** Charges of a period. */
  of(period: string): Money {
    return period === this.#period ? this.#latest : (this.#others?.get(period) ?? 0n);
  }

  /** All charges, by period. */
  all(): [period: string, charges: Money][] {
    const others = this.#others ? [...this.#others] : [];
    return this.#latest === 0n ? others : [...others, [this.#period, this.#latest]];
  }

  #addOther(charge: Money, period: string): void {
    this.#others ??= new Map();
    const charges = (this.#others.get(period) ?? 0n) + charge;
    if (charges === 0n) this.#others.delete(period);
    else this.#others.set(period, charges);
  }
}
