import { AppError } from '../../errors.js';
import { type Clock, utcDay, utcMonth } from '../../lib/clock.js';
import { BALANCE_FLOOR } from '../limits/limits.js';
import { AdmissionError } from '../limits/refusals.js';
import type { Visitor, Visitors } from './visitors.js';
import { MESSAGE, type WidgetEntry } from './widget-states.js';

/** Visitors' SDKs must not try again at once. */
function refusal(
  code: 'widget_rate_limit' | 'widget_daily_cap_exceeded' | 'widget_monthly_limit_exceeded',
  options: { message?: string; retryAfterSeconds?: number; retryAfterMs?: number } = {},
): AdmissionError {
  const error = new AdmissionError(code, options);
  error.noRetry = true;
  return error;
}

function ownerWithoutBalance(): AdmissionError {
  const error = new AdmissionError('widget_owner_insufficient_balance');
  error.noRetry = true;
  return error;
}

function tooManyMessages(resetMs: number): AdmissionError {
  return refusal('widget_rate_limit', {
    retryAfterSeconds: Math.ceil(resetMs / 1000),
    retryAfterMs: resetMs,
  });
}

/**
 * Whether a widget may answer one more message, in the order of CONTRACT.md. Refused messages count toward nothing.
 * @throws AdmissionError
 */
export function requireRoom(
  { row, state, account }: WidgetEntry,
  visitor: Visitor,
  { visitors, clock }: { visitors: Visitors; clock: Clock },
): void {
  const now = clock.now();
  const rate = state.window.peek(now);
  if (!rate.allowed) throw tooManyMessages(rate.resetMs);
  if (rate.remaining <= state.waiting) throw tooManyMessages(1_000);
  if (row.visitorPerDay !== null && !visitors.hasRoom(visitor, row.visitorPerDay)) {
    const message =
      'You have reached the number of messages per day for one visitor. It resets at 00:00 UTC.';
    throw refusal('widget_rate_limit', { message });
  }
  if (state.messages.used(utcDay(now)) + MESSAGE > BigInt(row.perDay) * MESSAGE) {
    throw refusal('widget_daily_cap_exceeded');
  }
  if (account.posted < BALANCE_FLOOR) throw ownerWithoutBalance();
}

/**
 * The model that answers. Once the monthly budget is spent it is the fallback, which may spend as much again.
 * @throws AdmissionError, AppError `model_not_allowed`
 */
export function modelOf({ row, state, allowedModels }: WidgetEntry, clock: Clock): string {
  const model = affordable(row, state.spend.used(utcMonth(clock.now())));
  if (model === undefined) throw refusal('widget_monthly_limit_exceeded');
  if (!allowedModels.has(model)) throw new AppError('model_not_allowed', { message: NOT_ALLOWED });
  return model;
}

const NOT_ALLOWED = "The plan of the widget's owner doesn't include its model.";

function affordable(
  { model, fallbackModel, monthlyLimit }: WidgetEntry['row'],
  spent: bigint,
): string | undefined {
  if (monthlyLimit === null || spent < monthlyLimit) return model;
  return fallbackModel !== null && spent < 2n * monthlyLimit ? fallbackModel : undefined;
}

/** What the limits of the account say, in the words of widgets: visitors know nothing of keys and plans. */
export function asWidgetRefusal(error: unknown, { state }: WidgetEntry, clock: Clock): unknown {
  if (!(error instanceof AdmissionError)) return error;
  switch (error.code) {
    case 'insufficient_credits':
      return ownerWithoutBalance();
    case 'rate_limit_exceeded':
      return tooManyMessages(error.rate?.resetMs ?? state.window.peek(clock.now()).resetMs);
    case 'upstream_unconfigured':
      return new AppError('upstream_unconfigured', { message: NO_UPSTREAM });
    case 'model_not_allowed':
    case 'invalid_body':
      return new AppError('model_not_allowed', { message: NOT_ALLOWED });
    default:
      return error;
  }
}

const NO_UPSTREAM = 'This chat is not connected to its model. Its owner has to save the widget again.';
