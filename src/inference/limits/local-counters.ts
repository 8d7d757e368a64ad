import type { Clock } from '../../lib/clock.js';
import { utcDay } from '../../lib/clock.js';
import { windowOf } from '../payer.js';
import { type Admission, type Blocked, type Counters, floorOf } from './limits.js';
import { dailyCapExceeded, insufficientCredits, notServing, rateExceeded } from './refusals.js';

/** Adds the hold to the amounts of this process. */
export function hold(admission: Admission): Admission {
  const { account, day } = admission.payer;
  account.holds += admission.hold;
  day.holds += admission.hold;
  admission.held = true;
  return admission;
}

/** Counters of the only edge, in memory and synchronous. `mayAdmit` is false while another edge holds the leader lock. */
export function localCounters(clock: Clock, mayAdmit: () => boolean): Counters {
  return {
    pollMs: undefined,
    edges: 1,
    messages: undefined,
    take(admission: Admission): Admission | Blocked {
      if (!mayAdmit()) throw notServing();
      const now = clock.now();
      const { account, day, dailyLimit } = admission.payer;
      const floor = floorOf(admission.payer);
      if (account.available < floor) {
        if (account.settledBalance < floor) throw insufficientCredits();
        return 'balance_held';
      }
      if (dailyLimit !== null) {
        const used = day.used(utcDay(now));
        if (used - day.holds >= dailyLimit) throw dailyCapExceeded();
        if (used >= dailyLimit) return 'cap_held';
      }
      const rate = windowOf(admission.payer).take(now);
      if (!rate.allowed) throw rateExceeded(rate);
      admission.rate = rate;
      return hold(admission);
    },
    changed: () => undefined,
    committed: () => undefined,
    stop: () => Promise.resolve(),
  };
}
