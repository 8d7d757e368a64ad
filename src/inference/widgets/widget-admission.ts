import { AppError } from '../../errors.js';
import { type Clock, utcDay, utcMonth } from '../../lib/clock.js';
import { VISITOR_DAILY_LIMIT, VISITOR_MINUTE } from '../../services/widgets/outcomes.rules.js';
import { floorOf } from '../limits/limits.js';
import { AdmissionError, final } from '../limits/refusals.js';
import type { MessageVerdict, VisitorLimits } from '../limits/shared-messages.js';
import type { Visitors } from './visitors.js';
import type { WidgetEntry } from './widget-cache.js';
import { MESSAGE } from './widget-state.js';

type RefusalCode =
  | 'widget_rate_limit'
  | 'widget_loop_detected'
  | 'widget_daily_cap_exceeded'
  | 'widget_monthly_limit_exceeded';

/** A refusal by a limit of a widget. */
export class WidgetRefusal extends AdmissionError {
  // Clients of visitors must not retry at once.
  override noRetry = true;

  constructor(
    code: RefusalCode,
    options: { message?: string; retryAfterSeconds?: number; retryAfterMs?: number } = {},
    /** The reason under which the owner sees the refusal. */
    readonly reason: string = code,
  ) {
    super(code, options);
  }
}

/** Other messages used up the budget of the model while this one waited. The widget's fallback model can answer. */
export class OtherModelError extends AppError {
  constructor() {
    super('service_unavailable', { retryAfterSeconds: 1 });
  }
}

const ownerWithoutBalance = (): AdmissionError =>
  final(new AdmissionError('widget_owner_insufficient_balance'));

function tooManyMessages(resetMs: number, reason?: string): WidgetRefusal {
  const wait = { retryAfterSeconds: Math.ceil(resetMs / 1000), retryAfterMs: resetMs };
  return new WidgetRefusal('widget_rate_limit', wait, reason);
}

const VISITOR_DAY =
  'You have reached the number of messages per day for one visitor. It resets at 00:00 UTC.';

const visitorDayOver = (): WidgetRefusal =>
  new WidgetRefusal('widget_rate_limit', { message: VISITOR_DAY }, VISITOR_DAILY_LIMIT);

/** The sender of a message, as counted. */
export interface CountedVisitor {
  names: readonly [session: string, address: string];
  /** Undefined if the owner has set no limit for visitors. */
  limits: VisitorLimits | undefined;
  /** Whether the message closes a loop. */
  isLoop: boolean;
}

/**
 * Whether a widget may answer one more message. Refused messages count toward nothing.
 * @throws AdmissionError
 */
export function requireRoom(
  widget: WidgetEntry,
  { names, limits, isLoop }: CountedVisitor,
  { visitors, clock }: { visitors: Visitors; clock: Clock },
): void {
  const { row, state, account } = widget;
  const now = clock.now();
  const rate = state.window.peek(now);
  if (!rate.allowed) throw tooManyMessages(rate.resetMs);
  if (rate.remaining <= state.waiting) throw tooManyMessages(1_000);
  const refusal = limits && visitors.refusal(names, limits);
  if (refusal === 'day') throw visitorDayOver();
  if (refusal) throw tooManyMessages(refusal.waitMs, VISITOR_MINUTE);
  if (isLoop) throw new WidgetRefusal('widget_loop_detected');
  if (state.messages.used(utcDay(now)) + MESSAGE > BigInt(row.perDay) * MESSAGE) {
    throw new WidgetRefusal('widget_daily_cap_exceeded');
  }
  if (account.settledBalance < floorOf(widget)) throw ownerWithoutBalance();
}

/**
 * Checks the verdict over all edges.
 * @throws WidgetRefusal
 */
export function requirePlace({ kind, waitMs }: MessageVerdict): void {
  if (kind === 'minute') throw tooManyMessages(waitMs);
  if (kind === 'visitor_minute') throw tooManyMessages(waitMs, VISITOR_MINUTE);
  if (kind === 'visitor') throw visitorDayOver();
  if (kind === 'day') throw new WidgetRefusal('widget_daily_cap_exceeded');
}

/**
 * The model that answers: the fallback once the monthly budget is spent. The fallback may spend as much again.
 * @throws AdmissionError, AppError `model_not_allowed`, `service_unavailable`
 */
export function modelOf({ row, state, allowedModels }: WidgetEntry, clock: Clock): string {
  const used = state.spend.used(utcMonth(clock.now()));
  const [model] = affordable(row, used);
  if (model === undefined) throw overBudget(row, used - state.spend.holds);
  if (!allowedModels.has(model)) throw new AppError('model_not_allowed', { message: NOT_ALLOWED });
  return model;
}

/**
 * Checks the monthly budget again: other messages may have spent it while this one waited for the owner's balance or for Redis.
 * Messages in progress count with their holds, except for `held`, the message's own hold.
 * @throws WidgetRefusal; OtherModelError; AppError `service_unavailable` if other messages only hold the budget
 */
export function requireBudget({ row, state }: WidgetEntry, model: string, clock: Clock, held = 0n): void {
  const used = state.spend.used(utcMonth(clock.now()));
  const models = affordable(row, used - held);
  if (models.length === 0) throw overBudget(row, used - state.spend.holds);
  if (!models.includes(model)) throw new OtherModelError();
}

/** `spent`: without the holds of messages in progress, since most of a hold is given back. */
const overBudget = (row: WidgetEntry['row'], spent: bigint): AppError =>
  affordable(row, spent).length > 0 ? heldForNow() : new WidgetRefusal('widget_monthly_limit_exceeded');

/** Messages in progress hold the rest of a balance or budget. It isn't used up, so a retry may succeed. */
const heldForNow = (retryAfterSeconds = 1): AppError =>
  new AppError('service_unavailable', { retryAfterSeconds });

const NOT_ALLOWED = "The plan of the widget's owner doesn't include its model.";

/** The models that may answer after this spend in the month, the widget's own first. */
function affordable({ model, fallbackModel, monthlyLimit }: WidgetEntry['row'], spent: bigint): string[] {
  if (monthlyLimit === null) return [model];
  const models = spent < monthlyLimit ? [model] : [];
  if (fallbackModel !== null && spent < 2n * monthlyLimit) models.push(fallbackModel);
  return models;
}

/** Turns a refusal by the account's limits into one for visitors, who know nothing about keys and plans. */
export function asWidgetRefusal(error: unknown, { state }: WidgetEntry, clock: Clock): unknown {
  if (!(error instanceof AdmissionError)) return error;
  switch (error.code) {
    case 'insufficient_credits': {
      const { retryAfterSeconds } = error.options;
      return retryAfterSeconds === undefined ? ownerWithoutBalance() : heldForNow(retryAfterSeconds);
    }
    case 'rate_limit_exceeded':
      return tooManyMessages(error.rate?.resetMs ?? state.window.peek(clock.now()).resetMs);
    case 'upstream_unconfigured':
      return final(new AdmissionError('upstream_unconfigured', { message: NO_UPSTREAM }));
    case 'model_not_allowed':
    case 'invalid_body':
      return new AppError('model_not_allowed', { message: NOT_ALLOWED });
    default:
      return error;
  }
}

const NO_UPSTREAM = 'This chat is not connected to its model. Its owner has to save the widget again.';
