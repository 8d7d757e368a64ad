import type { ServiceContext } from '../../context.js';
import { AppError } from '../../errors.js';
import { newId } from '../../lib/ids.js';
import type { ServiceDeps } from '../deps.js';
import { DAY_MS, MINUTE_MS } from './accounts.rules.js';
import * as store from './limits.store.js';

const LOGIN_WINDOW_MS = 15 * MINUTE_MS;
const FAILURES_PER_ACCOUNT_AND_NETWORK = 10;
/** Over all networks: enough to stop a botnet, too many for one stranger to lock a person out. */
const FAILURES_PER_ACCOUNT = 100;

export interface LoginLimits {
  /**
   * Runs one comparison of a password. It is counted as failed before it starts, so that parallel tries can't slip
   * through together, and taken back when it succeeds or can't be made.
   * @throws AppError `rate_limit_exceeded` without running it.
   */
  attempt(context: ServiceContext, email: string, compare: () => Promise<boolean>): Promise<boolean>;
}

/** Suites and scripts of a developer sign up hundreds from their own machine. */
const exempt = (context: ServiceContext, deps: ServiceDeps): boolean =>
  context.loopback && !deps.config.production;

/** The limits on failed log-ins, shared by all processes through the database. */
export function createLoginLimits(deps: ServiceDeps): LoginLimits {
  const names = deps.pseudonyms;

  const reserve = (context: ServiceContext, mailHash: string, networkHash: string): Promise<string> =>
    context.em.transactional(async (em) => {
      const now = context.clock.now();
      const since = new Date(now - LOGIN_WINDOW_MS);
      const failures = await store.countLoginFailures(em, { mailHash, networkHash, since });
      const oldestMs =
        failures.network >= FAILURES_PER_ACCOUNT_AND_NETWORK
          ? failures.oldestOfNetworkMs
          : failures.account >= FAILURES_PER_ACCOUNT
            ? failures.oldestOfAccountMs
            : null;
      if (oldestMs !== null) {
        throw new AppError('rate_limit_exceeded', {
          message: 'Too many failed log-ins for this account. Try again later.',
          retryAfterSeconds: (oldestMs + LOGIN_WINDOW_MS - now) / 1000,
        });
      }
      const id = newId();
      await store.insertLoginFailure(em, { id, mailHash, networkHash, now: new Date(now) });
      return id;
    });

  return {
    async attempt(context, email, compare) {
      if (exempt(context, deps)) return compare();
      const mailHash = names.mail(email);
      const networkHash = names.network(context.network);
      const id = await reserve(context, mailHash, networkHash);
      try {
        const right = await compare();
        if (right) await store.clearLoginFailures(context.em, { mailHash, networkHash });
        return right;
      } catch (error) {
        await store.deleteLoginFailure(context.em, id);
        throw error;
      }
    },
  };
}

/**
 * Refuses a sign-up of a network that had its share in the last 24 hours. Called inside the sign-up's transaction:
 * the count is locked until the new account is committed.
 * @throws AppError `rate_limit_exceeded`
 */
export async function limitSignups(
  context: ServiceContext,
  em: ServiceContext['em'],
  networkHash: string,
  deps: ServiceDeps,
): Promise<void> {
  if (exempt(context, deps)) return;
  const now = context.clock.now();
  const { count, oldestMs } = await store.countSignups(em, { networkHash, since: new Date(now - DAY_MS) });
  if (count < deps.config.signupsPerNetworkPerDay) return;
  throw new AppError('rate_limit_exceeded', {
    message: 'Too many sign-ups from this network today. Try again later.',
    retryAfterSeconds: ((oldestMs ?? now) + DAY_MS - now) / 1000,
  });
}
