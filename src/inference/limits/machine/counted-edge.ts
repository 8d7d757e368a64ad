import type { Money } from '../../../lib/money.js';
import type { SlidingWindow } from '../../../lib/sliding-window.js';
import type { AccountState, DayState } from '../account-state.js';
import type { Claim } from '../local-counters.js';

/** What one edge has open of an account, or of a credential's day. */
export class Part<State extends AccountState | DayState> {
  holds: Money = 0n;
  charges: Money = 0n;
  /** Payers of this edge that are counted in it. */
  payers = 0;

  constructor(readonly state: State) {}

  change(holds: Money, charges: Money): void {
    this.holds += holds;
    this.charges += charges;
    this.state.holds += holds;
    this.state.charge(charges);
  }

  get isIdle(): boolean {
    return this.payers === 0 && this.holds === 0n && this.charges === 0n;
  }
}

/** A payer as an edge has introduced it. */
export interface CountedPayer {
  account: Part<AccountState>;
  day: Part<DayState>;
  window: SlidingWindow;
  /** What is decided about, made once and filled in for each call. */
  claim: Claim;
}

/** What the counting process knows of one edge. */
export class CountedEdge {
  id = '';
  readonly payers: (CountedPayer | undefined)[] = [];
  readonly accounts = new Map<string, Part<AccountState>>();
  readonly days = new Map<string, Part<DayState>>();
  /** Open messages, by widget. */
  readonly messages = new Map<string, number>();

  forget(ref: number): void {
    const payer = this.payers[ref];
    if (!payer) return;
    this.payers[ref] = undefined;
    payer.account.payers--;
    payer.day.payers--;
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
