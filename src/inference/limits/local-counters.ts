import type { Clock } from '../../lib/clock.js';
import { utcDay } from '../../lib/clock.js';
import { windowOf } from '../payer.js';
import { type Admission, type Blocked, type Counters, floorOf } from './limits.js';
import { dailyCapExceeded, insufficientCredits, notServing, rateExceeded } from './refusals.js';

/** Takes the hold in this process's own state. */
export function hold(admission: Admission): Admission {
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
