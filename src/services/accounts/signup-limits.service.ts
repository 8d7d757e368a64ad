import type { ServiceContext } from '../../context.js';
import { AppError } from '../../errors.js';
import { DAY_MS } from '../../lib/clock.js';
import type { ServiceDeps } from '../deps.js';
import { accountNetworks, isExempt } from './exemption.rules.js';
import { countSignups } from './limits.store.js';
import { signupAttempts } from './login-limits.rules.js';
import { countRequest } from './network-counts.store.js';

type Deps = Pick<ServiceDeps, 'config' | 'pseudonyms'>;

/**
 * Counts a sign-up attempt before anything is looked up, whether it succeeds or not: otherwise anybody could find out
 * which addresses are taken and slow others down.
 * @throws AppError `rate_limit_exceeded`
 */
export async function countSignupAttempt(context: ServiceContext, deps: Deps): Promise<void> {
  if (isExempt(context, deps.config)) return;
  const now = context.clock.now();
  const most = signupAttempts(deps.config.signupsPerNetworkPerDay);
  const names = accountNetworks(context).map((network) => `signup:${deps.pseudonyms.network(network)}`);
  await context.em.transactional(async (em) => {
    for (const [width, name] of names.entries()) {
      const fullUntil = await countRequest(em, { name, most: most[width]!, windowMs: DAY_MS }, now);
      if (fullUntil !== undefined) refuse(fullUntil - now);
    }
  });
}

/**
 * Refuses a sign-up of a network that has created its share of accounts in the last 24 hours. Called inside the
 * sign-up's transaction: the count is locked until the new account is committed.
 * @throws AppError `rate_limit_exceeded`
 */
export async function limitSignups(
  context: ServiceContext,
  em: ServiceContext['em'],
  networkHash: string,
  deps: Deps,
): Promise<void> {
  if (isExempt(context, deps.config)) return;
  const now = context.clock.now();
  const { count, oldestMs } = await countSignups(em, { networkHash, since: new Date(now - DAY_MS) });
  if (count >= deps.config.signupsPerNetworkPerDay) refuse((oldestMs ?? now) + DAY_MS - now);
}

function refuse(waitMs: number): never {
  throw new AppError('rate_limit_exceeded', {
    message: 'Too many sign-ups from this network today. Try again later.',
    retryAfterSeconds: waitMs / 1000,
  });
}
