import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServiceContext } from '../context.js';
import { AppError } from '../errors.js';
import type { RateClass, TakeRate } from '../graphql/rates.js';
import type { NetworkBudget } from '../lib/fair/network-budget.js';
import { RateBudget } from '../lib/fair/rate-budget.js';
import type { DeclaredRoute } from '../lib/route-rules.js';
import { accountOwner } from '../lib/work-owner.js';
import type { ApiRouteRules } from '../rest/route-rules.js';
import { rulesOf } from './route-guard.js';

/** Requests a minute per account and process. */
export const RATES: Readonly<Record<RateClass, number>> = { read: 600, write: 120, heavy: 60 };

/**
 * Each further part of a body of this size counts as one more read: the largest bodies take tens of milliseconds to
 * parse.
 */
const BYTES_PER_READ = 64 * 1024;

/** Paths below which every route is counted. */
const COUNTED = /^\/(?:api|graphql)(?:\/(?!playground)|$)/;

const KNOWN: ReadonlySet<unknown> = new Set([...Object.keys(RATES), 'auth', 'none']);

/** @throws Error for a route without a rate. */
export function requireRate({ method, url, rate }: DeclaredRoute<ApiRouteRules>): void {
  if (!KNOWN.has(rate) || (rate === 'none' && COUNTED.test(url)))
    throw new Error(`${method} ${url} doesn't declare its rate limit`);
}

/**
 * Counts accounts, except those that `exempt` lets pass. Reads without a session count for their network, as their
 * requests do (session-guard.ts). Writes without a session are log-ins and sign-ups, which have their own limits.
 */
export function createRates(
  exempt: (context: ServiceContext) => boolean,
  strangers: NetworkBudget,
): TakeRate {
  const budgets = {
    read: new RateBudget(RATES.read),
    write: new RateBudget(RATES.write),
    heavy: new RateBudget(RATES.heavy),
  };
  return (context, rateClass, units) => {
    const { viewer, clock, networks } = context;
    if (exempt(context)) return;
    if (!viewer) {
      if (rateClass !== 'write') strangers.spend(networks, units);
      return;
    }
    const waitMs = budgets[rateClass].take(accountOwner(viewer.accountId), clock.now(), units);
    if (waitMs > 0) throw tooMany(waitMs);
  };
}

/** Rounded up, as in the `retry-after` header. */
function tooMany(waitMs: number): AppError {
  const seconds = Math.ceil(waitMs / 1000);
  const message = `Too many requests. Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`;
  return new AppError('rate_limit_exceeded', { message, retryAfterSeconds: seconds });
}

/** Counts each request of an account by the `rate` of its route. */
export function limitRates(app: FastifyInstance, take: TakeRate): void {
  app.addHook('onRequest', async (request) => {
    const rate = rulesOf(request)?.rate ?? 'none';
    // Requests without a session were already counted by the session guard.
    if (rate === 'none' || !request.context.viewer) return;
    take(request.context, rate === 'auth' ? 'write' : rate, 1);
  });
}

/** Counts a large body as reads of its sender. @throws AppError `rate_limit_exceeded` */
export function chargeBody(take: TakeRate, request: FastifyRequest, bytes: number): void {
  const rules = rulesOf(request);
  const units = Math.floor(bytes / BYTES_PER_READ);
  if (units === 0 || !rules || rules.rate === 'none' || rules.auth === 'internal') return;
  take(request.context, 'read', units);
}
