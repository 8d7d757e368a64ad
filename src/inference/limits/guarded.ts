import type { Catalog } from '../catalog.js';
import type { Payer } from '../payer.js';
import { type Admission, BALANCE_FLOOR, type Blocked, type Counters } from './limits.js';
import { keyGuardReached, slowedDown } from './refusals.js';

type Taken = Admission | Blocked;

/**
 * The model to which the key's guard moves a call; null: the call stays on the requested model. Calls in flight count with
 * all that they hold, so that many at once can't outrun the guard. A call never becomes more expensive, and a chat call never
 * becomes an embedding call or the reverse.
 */
export function movedModel(
  { guard, account }: Payer,
  requested: string,
  catalog: Pick<Catalog, 'get'>,
  now: number,
): string | null {
  if (guard?.action !== 'fallback_model' || guard.model === null || guard.model === requested) return null;
  if (account.settledBalance < BALANCE_FLOOR || guard.phase(now) === 'idle') return null;
  const from = catalog.get(requested);
  const to = catalog.get(guard.model);
  if (!from || (to && to.kind !== from.kind)) return null;
  if (to && from.priceIn <= to.priceIn && from.priceOut <= to.priceOut) return null;
  return guard.model;
}

/**
 * Applies the guard of a key, then asks the counters. A guard that disables its key stops it at a percentage of the monthly
 * limit: while calls in flight may reach it, other calls wait for them, as at a daily cap. A slowed key also counts in a
 * window of its own. Its calls never wait, since a waiting call occupies a connection and memory for its body.
 * @param release Gives back what the counters took.
 * @throws AdmissionError, or rejects with it
 */
export function takeGuarded(
  admission: Admission,
  counters: Counters,
  now: number,
  release: (admission: Admission) => void,
): Taken | Promise<Taken> {
  const { guard, account } = admission.payer;
  // A balance below the floor is reported first.
  if (!guard || account.settledBalance < BALANCE_FLOOR) return counters.take(admission);
  const phase = guard.phase(now);
  if (guard.action === 'disable') {
    if (phase === 'acting') throw keyGuardReached();
    if (phase === 'held') return 'cap_held';
  }
  if (guard.action !== 'slow' || phase !== 'acting') return counters.take(admission);
  guard.resize(account.window.limit, counters.edges);
  const room = guard.window.peek(now);
  if (!room.allowed) throw slowedDown(room);
  const slow = (taken: Taken): Taken => {
    if (typeof taken === 'string') return taken;
    const rate = guard.window.take(now);
    if (!rate.allowed) {
      release(taken);
      throw slowedDown(rate);
    }
    taken.rate = rate;
    return taken;
  };
  const taken = counters.take(admission);
  return taken instanceof Promise ? taken.then(slow) : slow(taken);
}
