import type { Clock } from '../../lib/clock.js';
import { utcDay } from '../../lib/clock.js';
import type { Money } from '../../lib/money.js';
import type { AccountState, KeyDayState } from '../account-state.js';
import { type Admission, BALANCE_FLOOR, type Blocked } from './limits.js';
import { hold } from './local-counters.js';
import { dailyCapExceeded, dailyCapHeld, insufficientCredits, rateExceeded, shareSpent } from './refusals.js';

/** What was known when this edge lost sight of the others. */
interface Share {
  outage: number;
  day: string;
  /** Balance, or spend of the day. */
  base: Money;
  /** `charged` of the state at that time, less what was not committed: that counts as this edge's. */
  start: Money;
}

/**
 * Limits of an edge that can't ask what the others admit: each gives out its share, so that all of them together
 * stay within the whole. A share is fixed when the outage begins: charges that are committed meanwhile don't make
 * room, since the others' charges may not be known here.
 */
export class LocalShare {
  /** Edges that share; as they were when last heard of. */
  edges = 1;
  /** Rises with every outage. */
  outage = 0;
  readonly #shares = new WeakMap<AccountState | KeyDayState, Share>();

  constructor(private readonly clock: Clock) {}

  /**
   * `careful`: Redis was late, which is not yet an outage: what may not fit into this edge's share as a whole waits
   * rather than be decided without the others.
   * @throws AdmissionError
   */
  take(admission: Admission, careful = false): Admission | Blocked {
    const now = this.clock.now();
    const { account, day, dailyLimit } = admission.entry;
    const edges = BigInt(this.edges);
    const more = careful ? edges * admission.hold : 0n;
    if (account.posted < BALANCE_FLOOR) throw insufficientCredits();
    const share = this.#shareOf(account, account.balance, '');
    const open = account.charged - share.start + account.holds;
    if (account.available < BALANCE_FLOOR || share.base - edges * open - more < BALANCE_FLOOR) {
      if (careful || account.holds > 0n) return 'account';
      throw shareSpent();
    }
    if (dailyLimit !== null) {
      const today = utcDay(now);
      if (day.spend(today) + day.pending >= dailyLimit) throw dailyCapExceeded();
      const part = this.#shareOf(day, day.spend(today), today);
      const used = part.base + edges * (day.charged - part.start + day.holds) + more;
      if (used >= dailyLimit || day.used(today) >= dailyLimit) {
        if (careful || day.holds > 0n) return 'key';
        throw dailyCapHeld();
      }
    }
    const { window } = account;
    const rate = window.take(now, Math.min(window.limit, Math.max(1, Math.floor(window.limit / this.edges))));
    if (!rate.allowed) throw rateExceeded(rate);
    admission.rate = rate;
    return hold(admission);
  }

  #shareOf(state: AccountState | KeyDayState, base: Money, day: string): Share {
    let share = this.#shares.get(state);
    // More balance than there was is a top-up: it's shared anew.
    const toppedUp = day === '' && share !== undefined && base > share.base;
    if (!share || share.outage !== this.outage || share.day !== day || toppedUp) {
      share = { outage: this.outage, day, base, start: state.charged - state.pending };
      this.#shares.set(state, share);
    }
    return share;
  }
}
