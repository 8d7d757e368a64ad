import type { Catalog } from '../catalog.js';
import type { Payer } from '../payer.js';
import { type Admission, BALANCE_FLOOR, type Blocked, type Counters } from './limits.js';
import { keyGuardReached, slowedDown } from './refusals.js';

type Taken = Admission | Blocked;

/**
 * The model that a call runs on in place of the one it asks for, because the guard of its key has acted; null: the one it
 * asks for. Calls in flight count as if they had used all they may, so that many at once don't outrun the guard. A call
 * never becomes dearer, and never another kind of call.
 */
export function movedModel(
  { guard, account }: Payer,
  asked: string,
  catalog: Pick<Catalog, 'get'>,
  now: number,
): string | null {
  if (guard?.action !== 'fallback_model' || guard.model === null || guard.model === asked) return null;
  if (account.settledBalance < BALANCE_FLOOR || guard.stand(now) === 'idle') return null;
  const from = catalog.get(asked);
  const to = catalog.get(guard.model);
  if (!from || (to && to.kind !== from.kind)) return null;
  if (to && from.priceIn <= to.priceIn && from.priceOut <= to.priceOut) return null;
  return guard.model;
}

/**
 * What the guard of a key refuses, and otherwise what the counters say. A disabled key stops at its percentage: while
 * calls in flight may bring it there, others wait for them, as at a daily cap. A slowed key counts in a window of its own
 * beside the account's; its calls never wait, since a waiting call holds a connection and a body.
 * @param release Gives back what was taken.
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
  const stand = guard.stand(now);
  if (guard.action === 'disable') {
    if (stand === 'acting') throw keyGuardReached();
    if (stand === 'held') return 'cap_held';
  }
  if (guard.action !== 'slow' || stand !== 'acting') return counters.take(admission);
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
