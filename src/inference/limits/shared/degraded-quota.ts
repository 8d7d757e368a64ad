import type { Clock } from '../../../lib/clock.js';
import { dayStart, utcDay } from '../../../lib/clock.js';
import { DOLLAR, type Money } from '../../../lib/money.js';
import { windowOf } from '../../payer.js';
import type { AccountState, PeriodSpend, Share } from '../account-state.js';
import { type Admission, BALANCE_FLOOR, type Blocked, floorOf } from '../limits.js';
import { hold } from '../local-counters.js';
import {
  dailyCapExceeded,
  dailyCapHeld,
  insufficientCredits,
  rateExceeded,
  shareSpent,
} from '../refusals.js';

/**
 * The last five cents of a balance or cap are only given out jointly. Redis reserves a quarter of the amount above for
 * edges that lose contact (`decide-script.ts`), an equal part for each.
 */
export const SHARED_RESERVE: Money = DOLLAR / 20n;

/** Calls that began before midnight have hardly a longer way to go. */
const OVER_MIDNIGHT_MS = 10 * 60_000;

/**
 * Limits of an edge that can't ask what the others admit: each gives out its share of what Redis keeps for edges in
 * that position. A share that was given out, whole or in part, is not given out again before Redis has counted it and
 * still admits calls. So all edges together stay within the whole, however often Redis is lost.
 */
export class DegradedQuota {
  /** Edges that share; as they were when last heard of. */
  edges = 1;
  /** When Redis last answered. Its reserve covers balances read since then, not older ones. */
  heardAt = 0;

  constructor(private readonly clock: Clock) {}

  /** Whether the database has been asked since Redis was last heard of. */
  knows({ payer: { account, day, dailyLimit } }: Admission): boolean {
    return account.readAt >= this.heardAt && (dailyLimit === null || day.readAt >= this.heardAt);
  }

  /**
   * `careful`: Redis was late, which is not yet an outage: what doesn't fit into this edge's share waits rather than be
   * decided without the others.
   * @throws AdmissionError
   */
  take(admission: Admission, careful = false): Admission | Blocked {
    const now = this.clock.now();
    const { account, day, dailyLimit } = admission.payer;
    const floor = floorOf(admission.payer);
    if (account.settledBalance < floor) throw insufficientCredits();
    // One share for all who pay out of the account: what lies below the floor of `/v1` isn't given out alone.
    const share = this.#shareOf(account, account.lowest - BALANCE_FLOOR, '');
    if (account.available < floor || account.claims + admission.hold > share.ceiling) {
      if (careful || account.holds > 0n) return 'balance_held';
      throw shareSpent();
    }
    let part: Share | undefined;
    if (dailyLimit !== null) {
      const today = utcDay(now);
      if (day.spend(today) + day.pendingOf(today) >= dailyLimit) throw dailyCapExceeded();
      part = this.#shareOf(day, dailyLimit - day.highest(today), today);
      if (day.used(today) >= dailyLimit || day.claims + admission.hold > part.ceiling) {
        if (careful || day.holds > 0n) return 'cap_held';
        throw dailyCapHeld();
      }
    }
    const window = windowOf(admission.payer);
    const rate = window.take(now, Math.min(window.limit, Math.max(1, Math.floor(window.limit / this.edges))));
    if (!rate.allowed) throw rateExceeded(rate);
    admission.rate = rate;
    share.uses++;
    if (part) part.uses++;
    return hold(admission);
  }

  /** The share according to what is `left` now; earlier amounts don't come back. */
  #shareOf(state: AccountState | PeriodSpend, left: Money, day: string): Share {
    const { share, claims } = state;
    const part = this.#partOf(left);
    if (!share || (share.day !== day && !this.#isMidnight)) {
      state.share = { ceiling: claims + part, left, day, uses: 0 };
      return state.share;
    }
    // Calls that others had in flight at midnight may take all of the new day: the share of the day before has to do.
    if (share.day !== day) return share;
    // More than there was is a top-up.
    if (left > share.left) share.ceiling += part - this.#partOf(share.left);
    else if (claims + part < share.ceiling) share.ceiling = claims + part;
    share.left = left;
    return share;
  }

  get #isMidnight(): boolean {
    const now = this.clock.now();
    return now - dayStart(now) < OVER_MIDNIGHT_MS;
  }

  #partOf(left: Money): Money {
    // If this edge was the only one, no other gives anything out. An edge that never reached Redis can't know.
    if (this.edges === 1 && this.heardAt > 0) return left;
    return left > SHARED_RESERVE ? (left - SHARED_RESERVE) / (4n * BigInt(this.edges)) : 0n;
  }
}
