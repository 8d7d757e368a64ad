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
  /** Whether it was read from the database after the outage had begun: what the others had spent by then is in it. */
  fresh: boolean;
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
  readonly #shares = new WeakMap<AccountState | KeyDayState, Share>();

  /** Rises with every outage. */
  #outage = 0;
  #lostAt = 0;

  constructor(private readonly clock: Clock) {}

  /** The others can't be asked from now on. */
  begin(): void {
    this.#outage++;
    this.#lostAt = this.clock.now();
  }

  /**
   * `careful`: Redis was late, which is not yet an outage: what may not fit into this edge's share of what is left now
   * as a whole waits rather than be decided without the others.
   * @throws AdmissionError
   */
  take(admission: Admission, careful = false): Admission | Blocked {
    const now = this.clock.now();
    const { account, day, dailyLimit, readAt } = admission.entry;
    const fresh = readAt >= this.#lostAt;
    const edges = BigInt(this.edges);
    const more = careful ? edges * admission.hold : 0n;
    if (account.posted < BALANCE_FLOOR) throw insufficientCredits();
    const share = this.#shareOf(account, { base: account.balance, day: '', fresh }, careful);
    const open = account.charged - share.start + account.holds;
    if (account.available < BALANCE_FLOOR || share.base - edges * open - more < BALANCE_FLOOR) {
      if (careful || account.holds > 0n) return 'account';
      throw shareSpent();
    }
    if (dailyLimit !== null) {
      const today = utcDay(now);
      if (day.spend(today) + day.pending >= dailyLimit) throw dailyCapExceeded();
      const part = this.#shareOf(day, { base: day.spend(today), day: today, fresh }, careful);
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

  #shareOf(
    state: AccountState | KeyDayState,
    known: Pick<Share, 'base' | 'day' | 'fresh'>,
    careful: boolean,
  ): Share {
    const share = this.#shares.get(state);
    const now = { ...known, outage: this.#outage, start: state.charged - state.pending };
    if (careful) return now;
    // More balance than there was is a top-up: it's shared anew.
    const toppedUp = known.day === '' && share !== undefined && known.base > share.base;
    const outdated = !share || share.outage !== this.#outage || share.day !== known.day;
    if (!outdated && !toppedUp && (share.fresh || !known.fresh)) return share;
    this.#shares.set(state, now);
    return now;
  }
}
