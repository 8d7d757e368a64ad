import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from '../context.js';
import { AppError } from '../errors.js';
import type { RateClass, TakeRate } from '../graphql/rates.js';
import { RateBudget } from '../lib/rate-budgets.js';
import { accountOwner, networkOwner } from '../lib/work-owner.js';
import { entryOf } from './route-guard.js';
import type { RouteEntry } from './route-table.js';

/** Requests a minute of one account, and of one network as long as nobody is signed in; per process. */
export const RATES: Readonly<Record<RateClass, number>> = { read: 600, write: 120, heavy: 60 };

/** Below these addresses every route is counted. */
const COUNTED = /^\/(?:api|graphql)(?:\/(?!playground)|$)/;

const KNOWN: ReadonlySet<unknown> = new Set([...Object.keys(RATES), 'auth', 'none']);

/** @throws Error for a route that doesn't say how it is counted. */
export function requireRates(table: readonly RouteEntry[]): void {
  for (const { method, url, rate } of table) {
    if (!KNOWN.has(rate) || (rate === 'none' && COUNTED.test(url))) {
      throw new Error(`the route table doesn't say at which rate ${method} ${url} may be asked`);
    }
  }
}

/** Counts accounts, and networks of callers without a session; nobody whom `exempt` lets pass. */
export function createRates(exempt: (context: ServiceContext) => boolean): TakeRate {
  const budgets = {
    read: new RateBudget(RATES.read),
    write: new RateBudget(RATES.write),
    heavy: new RateBudget(RATES.heavy),
  };
  return (context, rateClass, units) => {
    if (exempt(context)) return;
    const { viewer, network, clock } = context;
    const owner = viewer ? accountOwner(viewer.accountId) : networkOwner(network);
    const waitMs = budgets[rateClass].take(owner, clock.now(), units);
    if (waitMs > 0) throw new AppError('rate_limit_exceeded', { retryAfterSeconds: waitMs / 1000 });
  };
}

/** Counts each request by the `rate` of its entry, once it is known who asks. */
export function limitRates(app: FastifyInstance, take: TakeRate): void {
  app.addHook('onRequest', async (request) => {
    const rate = entryOf(request)?.rate ?? 'none';
    if (rate !== 'none') take(request.context, rate === 'auth' ? 'write' : rate, 1);
  });
}
