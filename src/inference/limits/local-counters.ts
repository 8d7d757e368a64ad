import type { Clock } from '../../lib/clock.js';
import { utcDay } from '../../lib/clock.js';
import type { Money } from '../../lib/money.js';
import type { SlidingWindow, WindowDecision } from '../../lib/sliding-window.js';
import { windowOf } from '../payer.js';
import type { AccountState, DayState } from './account-state.js';
import { BALANCE_FLOOR, type Blocked, type Counters } from './limits.js';
import { dailyCapExceeded, insufficientCredits, notServing, rateExceeded } from './refusals.js';

/** What is decided about: an admission, or what an edge asks the process that counts for it. */
export interface Claim {
  payer: {
    readonly account: AccountState;
    readonly day: DayState;
    dailyLimit: Money | null;
    readonly rate?: { readonly window: SlidingWindow } | undefined;
  };
  hold: Money;
  held: boolean;
  rate: WindowDecision | undefined;
}

/** Takes the hold in this process's own state. */
export function hold<T extends Claim>(admission: T): T {
  const { account, day } = admission.payer;
  account.holds += admission.hold;
  day.holds += admission.hold;
  admission.held = true;
  return admission;
}

/**
 * Counters of the only edge: all in memory, no promise. `mayAdmit` is false while another edge is the only one: it
 * counts elsewhere.
 */
export function localCounters(
  clock: Clock,
  mayAdmit: () => boolean,
): Counters & { take<T extends Claim>(admission: T): T | Blocked } {
  return {
    pollMs: undefined,
    edges: 1,
    messages: undefined,
    take<T extends Claim>(admission: T): T | Blocked {
      if (!mayAdmit()) throw notServing();
      const now = clock.now();
      const { account, day, dailyLimit } = admission.payer;
      if (account.available < BALANCE_FLOOR) {
        if (account.posted < BALANCE_FLOOR) throw insufficientCredits();
        return 'account';
      }
      if (dailyLimit !== null) {
        const used = day.used(utcDay(now));
        if (used - day.holds >= dailyLimit) throw dailyCapExceeded();
        if (used >= dailyLimit) return 'key';
      }
      const rate = windowOf(admission.payer).take(now);
      if (!rate.allowed) throw rateExceeded(rate);
      admission.rate = rate;
      return hold(admission);
    },
    changed: () => undefined,
    committed: () => undefined,
    capped: () => undefined,
    stop: () => Promise.resolve(),
  };
}
