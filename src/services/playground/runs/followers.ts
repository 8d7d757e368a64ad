import { AppError } from '../../../errors.js';
import type { RunEventOutput } from '../playground.outputs.js';
import { follow } from './follow.js';
import type { LiveSession } from './live-session.js';

/** As of any other subscription: of one account, in one process, twice the sockets that it may have. */
const FOLLOWERS_PER_ACCOUNT = 20;

/**
 * Follows sessions, so many of an account at once.
 * @throws AppError `rate_limit_exceeded`; `left` is called all the same.
 */
export type Follow = (session: LiveSession, left?: () => void) => AsyncIterableIterator<RunEventOutput>;

export function createFollowers(): Follow {
  const counts = new Map<string, number>();
  return (session, left) => {
    const { accountId } = session;
    const count = counts.get(accountId) ?? 0;
    if (count >= FOLLOWERS_PER_ACCOUNT) {
      left?.();
      const message = `At most ${FOLLOWERS_PER_ACCOUNT} subscriptions of one kind run per account. End one of them first.`;
      throw new AppError('rate_limit_exceeded', { message });
    }
    counts.set(accountId, count + 1);
    let here = true;
    return follow(session, () => {
      if (!here) return;
      here = false;
      const rest = counts.get(accountId)! - 1;
      if (rest > 0) counts.set(accountId, rest);
      else counts.delete(accountId);
      left?.();
    });
  };
}
