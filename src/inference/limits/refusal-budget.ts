import type { AppError } from '../../errors.js';
import { SMALL_BODY_BYTES } from '../memory/body-budget.js';
import type { AccountState } from './account-state.js';
import { BALANCE_FLOOR } from './limits.js';
import { insufficientCredits, rateExceeded, refusalsExceeded } from './refusals.js';

/** Refusals that an account may have at once. The same number is restored per minute. */
const LEAST_PER_MINUTE = 600;
/** Larger plans get this many refusals per request of their rate limit. */
const PER_PLANNED_REQUEST = 2;

const budgetOf = ({ window }: AccountState): number =>
  Math.max(LEAST_PER_MINUTE, window.limit * PER_PLANNED_REQUEST);

/**
 * Refuses an account whose refusals have used up their budget: refused calls are free, but reading their bodies isn't.
 * @throws AdmissionError `rate_limit_exceeded`
 */
export function refuseBeyondBudget(account: AccountState, now: number): void {
  const budget = budgetOf(account);
  const resetMs = account.refused.waitMs(now, budget);
  if (resetMs > 0) {
    throw refusalsExceeded(budget, { allowed: false, limit: account.window.limit, remaining: 0, resetMs });
  }
}

/**
 * Refusals by the plan's rate limit have a separate budget. Beyond it, calls are refused before their body is read, but only
 * while the plan's minute is full.
 * @throws AdmissionError `rate_limit_exceeded`
 */
export function refuseOverRate(account: AccountState, now: number): void {
  if (account.refusedByRate.waitMs(now, budgetOf(account)) === 0) return;
  const rate = account.window.peek(now);
  if (!rate.allowed) throw rateExceeded(rate);
}

/**
 * Takes a refusal from the account's budget: one, and one more for each 64 KiB of the body that was read. Our own failures
 * don't count. Concurrent calls may overdraw the budget.
 */
export function countRefusal(account: AccountState, now: number, error: AppError, bodyBytes: number): void {
  const ours = error.status >= 500 && error.code !== 'upstream_unconfigured';
  if (ours) return;
  const spent = error.code === 'rate_limit_exceeded' ? account.refusedByRate : account.refused;
  spent.add(now, budgetOf(account), 1 + Math.floor(bodyBytes / SMALL_BODY_BYTES));
}

/**
 * Refuses a large body before it is read if its call can't be admitted anyway.
 * @throws AdmissionError `insufficient_credits`, `rate_limit_exceeded`
 */
export function refuseLarge(account: AccountState, now: number): void {
  if (account.settledBalance < BALANCE_FLOOR) throw insufficientCredits();
  const rate = account.window.peek(now);
  if (!rate.allowed) throw rateExceeded(rate);
}
