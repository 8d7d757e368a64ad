import { utcDay } from '../../../lib/clock.js';
import type { Money } from '../../../lib/money.js';
import type { SlidingWindow } from '../../../lib/sliding-window.js';
import type { AccountState, DayState } from '../account-state.js';
import type { Claim } from '../local-counters.js';
import { PendingCharges } from '../pending-charges.js';

/** What one edge has open of an account, or of a credential's day. */
export class Part<State extends AccountState | DayState> {
  holds: Money = 0n;
  readonly #charges = new PendingCharges();
  /** What it may give out without asking. */
  leased: Money = 0n;
  /** Payers of this edge that are counted in it. */
  readonly payers = new Set<CountedPayer>();

  constructor(readonly state: State) {}

  /** Holds and charges of `at` (milliseconds) have changed. */
  change(holds: Money, charges: Money, at: number): void {
    this.holds += holds;
    this.state.holds += holds;
    this.#charge(charges, at);
  }

  /** Charges that wait for their commit. */
  get charges(): Money {
    return this.#charges.sum;
  }

  /** No call of the edge will be charged any more. */
  dropHolds(): void {
    this.state.holds -= this.holds;
    this.holds = 0n;
  }

  /** What a dead edge had charged is committed, or never will be. */
  dropCharges(): void {
    for (const [day, charges] of this.#charges.all()) this.#charge(-charges, Date.parse(day));
  }

  #charge(charges: Money, at: number): void {
    if (charges === 0n) return;
    this.#charges.add(charges, utcDay(at));
    this.state.charge(charges, at);
  }

  /** What is leased is held until the edge says what has become of it. */
  lease(money: Money): void {
    this.leased += money;
    this.state.leased += money;
    this.state.holds += money;
  }

  get isIdle(): boolean {
    return this.payers.size === 0 && this.holds === 0n && this.charges === 0n && this.leased === 0n;
  }
}

/** Calls of a minute, those included that edges may give out without asking. */
export interface CountedWindow {
  readonly window: SlidingWindow;
  leased: number;
}

/** A payer as an edge has introduced it. */
export interface CountedPayer {
  readonly ref: number;
  readonly account: Part<AccountState>;
  readonly day: Part<DayState>;
  readonly window: CountedWindow;
  /** What is decided about, made once and filled in for each call. */
  readonly claim: Claim;
  /** What its edge may admit of it without asking. */
  readonly lease: CountedLease;
}

interface CountedLease {
  calls: number;
  money: Money;
  /** How many times the edge has been given something. */
  granted: number;
  isRecalled: boolean;
}

/** What the counting process knows of one edge. */
export class CountedEdge {
  id = '';
  /** It has said that it admits nothing any more: all of its calls were over by then. */
  hasStopped = false;
  readonly payers: (CountedPayer | undefined)[] = [];
  readonly accounts = new Map<string, Part<AccountState>>();
  readonly days = new Map<string, Part<DayState>>();
  /** Open messages, by widget. */
  readonly messages = new Map<string, number>();

  forget(ref: number): void {
    const payer = this.payers[ref];
    if (!payer) return;
    this.payers[ref] = undefined;
    payer.account.payers.delete(payer);
    payer.day.payers.delete(payer);
  }

  *parts(): Iterable<Part<AccountState> | Part<DayState>> {
    yield* this.accounts.values();
    yield* this.days.values();
  }

  tidy(): void {
    for (const parts of [this.accounts, this.days])
      for (const [id, part] of parts) if (part.isIdle) parts.delete(id);
  }
}
