import { AppError } from '../errors.js';
import type { Clock } from '../lib/clock.js';
import { utcDay } from '../lib/clock.js';
import { DOLLAR, type Money } from '../lib/money.js';
import type { WindowDecision } from '../lib/sliding-window.js';
import { costBound } from '../upstream/usage.js';
import type { Catalog, CatalogModel } from './catalog.js';
import type { KeyEntry } from './key-cache.js';
import type { InspectedBody } from './request-body.js';

/** SPEC section 8: the balance floor of `/v1`, $0.001. */
export const BALANCE_FLOOR: Money = DOLLAR / 1000n;

/** An admitted call: its money is held until it is settled. */
export interface Admission {
  model: CatalogModel;
  authorization: string;
  /** Upper bound of the cost, counted against balance and daily cap until settled. */
  hold: Money;
  rate: WindowDecision;
}

/** A refusal that also tells the state of the rate limit. */
export class AdmissionError extends AppError {
  rate: WindowDecision | undefined;
  /** SDKs retry 429 and 503 by themselves; this one would fail again. */
  noRetry = false;
}

/**
 * The checks of SPEC section 7 in the order of CONTRACT.md, all in memory; takes the hold and the rate slot when
 * all of them pass.
 * @throws AdmissionError
 */
export function admit(entry: KeyEntry, body: InspectedBody, catalog: Catalog, clock: Clock): Admission {
  const now = clock.now();
  const { account, day } = entry;
  checkBalance(account.posted, account.available);
  const model = entry.allowedModels.has(body.model) ? catalog.get(body.model) : undefined;
  if (!model) throw modelNotAllowed(body.model);
  if (!entry.authorization) throw final(new AdmissionError('upstream_unconfigured'));
  if (entry.dailyLimit !== null && day.used(utcDay(now)) >= entry.dailyLimit) {
    throw final(new AdmissionError('daily_cap_exceeded'));
  }
  const rate = account.window.take(now);
  if (!rate.allowed) throw rateExceeded(rate);
  const hold = costBound({ ...body, ...model });
  account.holds += hold;
  day.holds += hold;
  return { model, authorization: entry.authorization, hold, rate };
}

function checkBalance(posted: Money, available: Money): void {
  if (available >= BALANCE_FLOOR) return;
  if (posted < BALANCE_FLOOR) throw new AdmissionError('insufficient_credits');
  throw new AdmissionError('insufficient_credits', {
    message: 'Calls in flight hold the rest of the balance. Try again in a moment, or top up the account.',
    retryAfterSeconds: 1,
  });
}

function modelNotAllowed(model: string): AdmissionError {
  return new AdmissionError('model_not_allowed', {
    message: `The model "${model.slice(0, 100)}" is not in the allow-list of your plan. GET /v1/models lists those that are.`,
    param: 'model',
  });
}

function rateExceeded(rate: WindowDecision): AdmissionError {
  const seconds = Math.ceil(rate.resetMs / 1000);
  const error = new AdmissionError('rate_limit_exceeded', {
    message: `Your plan allows ${rate.limit} requests per minute. Try again in ${seconds} s.`,
    retryAfterSeconds: seconds,
  });
  error.rate = rate;
  return error;
}

function final(error: AdmissionError): AdmissionError {
  error.noRetry = true;
  return error;
}
