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
  // Visitors' SDKs must not try again at once.
  override noRetry = true;

  constructor(
    code: RefusalCode,
    options: { message?: string; retryAfterSeconds?: number; retryAfterMs?: number } = {},
    /** What it is counted under for the owner. */
    readonly reason: string = code,
  ) {
    super(code, options);
  }
}

/** Others have taken the budget of a model while a message waited for its turn; the widget's other model can answer. */
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

/** Who sent a message, as it is counted. */
export interface CountedVisitor {
  names: readonly [session: string, address: string];
  /** Undefined: the owner set no limit for visitors. */
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
 * Asks whether all edges together allow one more message.
 * @throws WidgetRefusal
 */
export function requirePlace({ kind, waitMs }: MessageVerdict): void {
  if (kind === 'minute') throw tooManyMessages(waitMs);
  if (kind === 'visitor_minute') throw tooManyMessages(waitMs, VISITOR_MINUTE);
  if (kind === 'visitor') throw visitorDayOver();
  if (kind === 'day') throw new WidgetRefusal('widget_daily_cap_exceeded');
}

/**
 * The model that answers. Once the monthly budget is spent it is the fallback, which may spend as much again.
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
 * Looks at the monthly budget once more: while a message waited for the owner's balance, or for the answer of other edges,
 * others may have spent it. Those under way count with what they hold, but for `held`, which is the message's own.
 * @throws WidgetRefusal; OtherModelError; AppError `service_unavailable` where others only hold it
 */
export function requireBudget({ row, state }: WidgetEntry, model: string, clock: Clock, held = 0n): void {
  const used = state.spend.used(utcMonth(clock.now()));
  const models = affordable(row, used - held);
  if (models.length === 0) throw overBudget(row, used - state.spend.holds);
  if (!models.includes(model)) throw new OtherModelError();
}

/** `spent`: without what messages in progress hold, since most of that is given back. */
const overBudget = (row: WidgetEntry['row'], spent: bigint): AppError =>
  affordable(row, spent).length > 0 ? heldForNow() : new WidgetRefusal('widget_monthly_limit_exceeded');

/** Messages in progress hold the rest of a balance or budget: it isn't used up, and the next try may be answered. */
const heldForNow = (retryAfterSeconds = 1): AppError =>
  new AppError('service_unavailable', { retryAfterSeconds });

const NOT_ALLOWED = "The plan of the widget's owner doesn't include its model.";

/** The models that may answer once the month has cost so much, the widget's own first. */
function affordable({ model, fallbackModel, monthlyLimit }: WidgetEntry['row'], spent: bigint): string[] {
  if (monthlyLimit === null) return [model];
  const models = spent < monthlyLimit ? [model] : [];
  if (fallbackModel !== null && spent < 2n * monthlyLimit) models.push(fallbackModel);
  return models;
}

/** What the limits of the account say, in the words of widgets: visitors know nothing of keys and plans. */
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
