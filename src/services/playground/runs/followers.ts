import { AppError } from '../../../errors.js';
import { FairQueue } from '../../../lib/fair/fair-queue.js';
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
  const followers = new FairQueue({ perOwner: FOLLOWERS_PER_ACCOUNT });
  return (session, left) => {
    const leave = followers.tryEnter(session.accountId);
    if (!leave) {
      left?.();
      const message = `At most ${FOLLOWERS_PER_ACCOUNT} subscriptions of one kind run per account. End one of them first.`;
      throw new AppError('rate_limit_exceeded', { message });
    }
    let here = true;
    return follow(session, () => {
      if (!here) return;
      here = false;
      leave();
      left?.();
    });
  };
}
