import type { AppError } from '../../errors.js';
import { SMALL_BODY_BYTES } from '../memory/body-budget.js';
import type { AccountState, Refused } from './account-state.js';
import { BALANCE_FLOOR } from './limits.js';
import { insufficientCredits, rateExceeded, refusalsExceeded } from './refusals.js';

/** Rejections that an account may have at once; the same number is restored per minute. */
const LEAST_PER_MINUTE = 600;
/** Larger plans have this many per request of their rate limit. */
const PER_PLANNED_REQUEST = 2;
const MINUTE_MS = 60_000;

const budgetOf = ({ window }: AccountState): number =>
  Math.max(LEAST_PER_MINUTE, window.limit * PER_PLANNED_REQUEST);

/** What still counts at `now`. A clock that has stepped back gives nothing back. */
function recover(refused: Refused | undefined, budget: number, now: number): Refused | undefined {
  if (!refused) return undefined;
  const back = (Math.max(0, now - refused.at) / MINUTE_MS) * budget;
  refused.units = Math.max(0, refused.units - back);
  refused.at = now;
  return refused.units > 0 ? refused : undefined;
}

/**
 * Refuses an account whose refusals have used up their budget: they cost it nothing, and us the reading of its bodies.
 * Accounts without refusals pay for one look at a field.
 * @throws AdmissionError `rate_limit_exceeded`
 */
export function refuseBeyondBudget(account: AccountState, now: number): void {
  const { refused } = account;
  if (!refused) return;
  const budget = budgetOf(account);
  account.refused = recover(refused, budget, now);
  if (refused.units < budget) return;
  const resetMs = ((refused.units - budget + 1) / budget) * MINUTE_MS;
  throw refusalsExceeded(budget, { allowed: false, limit: account.window.limit, remaining: 0, resetMs });
}

/**
 * Rejections by the plan's rate limit have a separate budget. Beyond it, calls are rejected before their body is read,
 * though only while the plan's minute is full.
 * @throws AdmissionError `rate_limit_exceeded`
 */
export function refuseOverRate(account: AccountState, now: number): void {
  const refused = account.refusedByRate;
  if (!refused) return;
  const budget = budgetOf(account);
  account.refusedByRate = recover(refused, budget, now);
  if (refused.units < budget) return;
  const rate = account.window.peek(now);
  if (!rate.allowed) throw rateExceeded(rate);
}

/**
 * Takes a refusal from the account's budget: one, and one more for each 64 KiB of the body that was read. What is our
 * fault doesn't count.
 */
export function countRefusal(account: AccountState, now: number, error: AppError, bodyBytes: number): void {
  const ours = error.status >= 500 && error.code !== 'upstream_unconfigured';
  if (ours) return;
  const budget = budgetOf(account);
  const field = error.code === 'rate_limit_exceeded' ? 'refusedByRate' : 'refused';
  const refused = recover(account[field], budget, now) ?? { units: 0, at: now };
  const units = 1 + Math.floor(bodyBytes / SMALL_BODY_BYTES);
  // Concurrent calls may overdraw it; no call waits longer than a minute for it.
  refused.units = Math.min(refused.units + units, 2 * budget - 1);
  account[field] = refused;
}

/**
 * Refuses a large body before it is read where its call can't be admitted anyway.
 * @throws AdmissionError `insufficient_credits`, `rate_limit_exceeded`
 */
export function refuseLarge(account: AccountState, now: number): void {
  if (account.posted < BALANCE_FLOOR) throw insufficientCredits();
  const rate = account.window.peek(now);
  if (!rate.allowed) throw rateExceeded(rate);
}
