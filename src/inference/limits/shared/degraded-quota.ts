import type { Clock } from '../../../lib/clock.js';
import { dayStart, utcDay } from '../../../lib/clock.js';
import { DOLLAR, type Money } from '../../../lib/money.js';
import { windowOf } from '../../payer.js';
import type { AccountState, Share } from '../account-state.js';
import { type Admission, BALANCE_FLOOR, type Blocked, floorOf } from '../limits.js';
import { hold } from '../local-counters.js';
import type { PeriodSpend } from '../period-spend.js';
import {
  balanceUnverifiable,
  dailyCapExceeded,
  dailyCapHeld,
  insufficientCredits,
  rateExceeded,
} from '../refusals.js';

/**
 * The last five cents of a balance or cap are only given out by Redis. Of the amount above, Redis reserves a quarter for edges
 * that lose contact with it (`decide-script.ts`), in equal shares.
 */
export const SHARED_RESERVE: Money = DOLLAR / 20n;

/** Calls that began before midnight have ended by then, with few exceptions. */
const OVER_MIDNIGHT_MS = 10 * 60_000;

/**
 * The limits of an edge without Redis. Each edge admits calls against its share of the reserve that Redis keeps for this case.
 * A share that was used, in whole or in part, isn't renewed before Redis has counted its calls and still admits others. So
 * all edges together stay within balance and cap, however often Redis is lost.
 */
export class DegradedQuota {
  /** The number of edges, according to the last heartbeat. */
  edges = 1;
  /** When Redis last answered. Its reserve covers only balances read since then. */
  heardAt = 0;

  constructor(private readonly clock: Clock) {}

  /** Whether the balance, and the spend of a capped key, were read after Redis last answered. */
  knows({ payer: { account, day, dailyLimit } }: Admission): boolean {
    return account.readAt >= this.heardAt && (dailyLimit === null || day.readAt >= this.heardAt);
  }

  /**
   * Admits a call out of this edge's share.
   * @param careful Redis was late, which isn't an outage yet: a call that exceeds the share waits instead of being refused.
   * @throws AdmissionError
   */
  take(admission: Admission, careful = false): Admission | Blocked {
    const now = this.clock.now();
    const { account, day, dailyLimit } = admission.payer;
    const floor = floorOf(admission.payer);
    if (account.settledBalance < floor) throw insufficientCredits();
    // Keys and widgets of the account use one share, so the amount below the floor of `/v1` isn't part of it.
    const share = this.#shareOf(account, account.lowest - BALANCE_FLOOR, '');
    if (account.available < floor || account.claims + admission.hold > share.ceiling) {
      if (careful || account.holds > 0n) return 'balance_held';
      throw balanceUnverifiable();
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

  /** Measures the share by what is `left` now. The share only grows by top-ups. */
  #shareOf(state: AccountState | PeriodSpend, left: Money, day: string): Share {
    const { share, claims } = state;
    const part = this.#partOf(left);
    if (!share || (share.day !== day && !this.#isMidnight)) {
      state.share = { ceiling: claims + part, left, day, uses: 0 };
      return state.share;
    }
    // Calls that other edges had in flight at midnight may use up the new day's cap, so the share of the day before remains.
    if (share.day !== day) return share;
    // An increase is a top-up.
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
    // The only edge needn't share. An edge that never reached Redis can't know whether it is the only one.
    if (this.edges === 1 && this.heardAt > 0) return left;
    return left > SHARED_RESERVE ? (left - SHARED_RESERVE) / (4n * BigInt(this.edges)) : 0n;
  }
}
