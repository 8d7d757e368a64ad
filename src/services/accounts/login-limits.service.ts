import { requireViewer, type ServiceContext } from '../../context.js';
import { AppError } from '../../errors.js';
import { DAY_MS } from '../../lib/clock.js';
import { newId } from '../../lib/ids.js';
import type { ServiceDeps } from '../deps.js';
import { emailKeyOf } from './accounts.rules.js';
import { accountNetworks, isExempt } from './exemption.rules.js';
import { isKnownNetwork } from './known-networks.store.js';
import * as store from './limits.store.js';
import * as limits from './login-limits.rules.js';
import { countAttempt, type NetworkCountLimit, takeBack } from './network-counts.store.js';

type Compare = () => Promise<boolean>;

/**
 * Runs one password comparison when its network's turn comes. It counts as failed before it starts, so that parallel
 * attempts can't slip through, and is uncounted when it succeeds or can't be made.
 */
export interface LoginLimits {
  /**
   * For log-ins. Networks from which the account has logged in before are counted separately, so strangers elsewhere
   * never lock the owner out.
   * @throws AppError `rate_limit_exceeded` without running it, `service_unavailable`
   */
  login(context: ServiceContext, email: string, compare: Compare): Promise<boolean>;
  /**
   * For the owner of a live session, who is counted separately too.
   * @throws AppError as above, `unauthorized`
   */
  proof(context: ServiceContext, compare: Compare): Promise<boolean>;
}

interface Reservation {
  /** ID of the counted failure. */
  id: string;
  subject: store.LoginSubject;
  counted: string[];
}

/** The limits on failed log-ins, shared by all processes through the database. */
export function createLoginLimits({ config, pseudonyms: names, passwords }: ServiceDeps): LoginLimits {
  const run = (
    context: ServiceContext,
    compare: Compare,
    reserve: (em: ServiceContext['em']) => Promise<Reservation>,
  ): Promise<boolean> => {
    const exempt = isExempt(context, config);
    const attempt = async (): Promise<boolean> => {
      if (exempt) return compare();
      const reserved = await context.em.transactional(reserve);
      try {
        const right = await compare();
        if (right) {
          await store.clearLoginFailures(context.em, reserved.subject);
          await takeBack(context.em, reserved.counted, { attempt: false });
        }
        return right;
      } catch (error) {
        await store.deleteLoginFailure(context.em, reserved.id);
        await takeBack(context.em, reserved.counted, { attempt: true });
        throw error;
      }
    };
    return passwords.inTurn({ network: context.networks.at(-1)!, exempt }, attempt, (right) => right);
  };

  const reserveLogin = async (
    context: ServiceContext,
    em: ServiceContext['em'],
    email: string,
  ): Promise<Reservation> => {
    const now = context.clock.now();
    const networkHashes = accountNetworks(context).map(names.network);
    const subject = { mailHash: names.mail(email), networkHashes };
    const failures = await store.countLoginFailures(em, subject, new Date(now - limits.LOGIN_WINDOW_MS));
    const networkHash = networkHashes[0]!;
    const since = new Date(now - limits.KNOWN_NETWORK_DAYS * DAY_MS);
    const known = await isKnownNetwork(em, { emailKey: emailKeyOf(email), networkHash, since });
    const networks = known ? failures.networks.slice(0, 1) : failures.networks;
    for (const [width, count] of networks.entries()) {
      refuseFull(count, limits.FAILURES_PER_ACCOUNT_AND_NETWORK[width]!, now);
    }
    if (!known) refuseFull(failures.account, limits.FAILURES_PER_ACCOUNT, now);
    const counts = known
      ? [countOfKnown(subject.mailHash, networkHash)]
      : context.networks.map((network, width) => countOfNetwork(names.network(network), width));
    for (const count of counts) {
      const fullUntil = await countAttempt(em, count, now);
      if (fullUntil !== undefined) refuse('Too many log-ins from this network.', fullUntil - now);
    }
    const id = newId();
    await store.insertLoginFailure(em, { ...subject, id, now: new Date(now) });
    return { id, subject, counted: counts.map(({ name }) => name) };
  };

  const reserveProof = async (context: ServiceContext, em: ServiceContext['em']): Promise<Reservation> => {
    const now = context.clock.now();
    const session = names.session(requireViewer(context).sessionId);
    const subject = { mailHash: session, networkHashes: [session] };
    const { account } = await store.countLoginFailures(em, subject, new Date(now - limits.LOGIN_WINDOW_MS));
    refuseFull(account, limits.FAILURES_PER_ACCOUNT_AND_NETWORK[0]!, now);
    const id = newId();
    await store.insertLoginFailure(em, { ...subject, id, now: new Date(now) });
    return { id, subject, counted: [] };
  };

  return {
    login: (context, email, compare) => run(context, compare, (em) => reserveLogin(context, em, email)),
    proof: (context, compare) => run(context, compare, (em) => reserveProof(context, em)),
  };
}

const countOfNetwork = (networkHash: string, width: number): NetworkCountLimit => ({
  name: `login:${networkHash}`,
  maxAttempts: limits.ATTEMPTS_PER_NETWORK[width]!,
  maxFailures: limits.FAILURES_PER_NETWORK[width]!,
  windowMs: limits.LOGIN_WINDOW_MS,
});

const countOfKnown = (mailHash: string, networkHash: string): NetworkCountLimit => ({
  name: `known:${mailHash}:${networkHash}`,
  maxAttempts: limits.ATTEMPTS_PER_KNOWN_NETWORK,
  maxFailures: limits.ATTEMPTS_PER_KNOWN_NETWORK,
  windowMs: limits.LOGIN_WINDOW_MS,
});

function refuseFull({ count, oldestMs }: store.FailureCount, most: number, now: number): void {
  if (count < most) return;
  refuse('Too many failed log-ins for this account.', (oldestMs ?? now) + limits.LOGIN_WINDOW_MS - now);
}

/** @throws AppError `rate_limit_exceeded` */
function refuse(reason: string, waitMs: number): never {
  throw new AppError('rate_limit_exceeded', {
    message: `${reason} Try again later.`,
    retryAfterSeconds: waitMs / 1000,
  });
}
