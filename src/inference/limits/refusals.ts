import { AppError } from '../../errors.js';
import type { WindowDecision } from '../../lib/sliding-window.js';
import { truncateUtf8 } from '../../lib/truncate.js';
import type { CatalogModel } from '../catalog.js';

/** A refusal that also reports the state of the rate limit. */
export class AdmissionError extends AppError {
  rate: WindowDecision | undefined;
  /** Tells SDKs not to retry. They retry 429 and 503 by default, but a retry of this call would fail again. */
  noRetry = false;
}

/** Marks a refusal that a retry would meet again. */
export const final = (error: AdmissionError): AdmissionError => {
  error.noRetry = true;
  return error;
};

/** Another edge has become the only one, with counters of its own. */
export const notServing = (): AdmissionError =>
  new AdmissionError('service_unavailable', { retryAfterSeconds: 1 });

export const insufficientCredits = (): AdmissionError => new AdmissionError('insufficient_credits');

/** Calls in flight hold the rest of the balance, and none was settled in time. */
export const creditsHeld = (): AdmissionError =>
  new AdmissionError('insufficient_credits', {
    message: 'Calls in progress have reserved the rest of the balance. Try again in a moment, or add credit.',
    retryAfterSeconds: 1,
  });

/** Redis is unavailable and this edge has used up its degraded quota, or Redis reserves the rest for edges that lose contact. */
export const balanceUnverifiable = (): AdmissionError =>
  new AdmissionError('insufficient_credits', {
    message: "The balance can't be checked right now. Try again in a moment.",
    retryAfterSeconds: 1,
  });

/** The caller's plan doesn't include the model. */
export const modelNotAllowed = (model: string): AdmissionError =>
  new AdmissionError('model_not_allowed', {
    message: `The model "${model}" is not included in your plan. GET /v1/models lists the models that are.`,
    param: 'model',
  });

const LONGEST_NAME_BYTES = 100;
const PREFIX = 'gateway/';

/**
 * No model has this name. Callers may send anything, so the echoed name is cut and cleaned.
 * @param isModel Whether there is a model of this name; used for a hint.
 */
export function modelUnknown(name: string, isModel: (name: string) => boolean): AdmissionError {
  const shown = truncateUtf8(name.replace(/[\p{C}"]/gu, '?'), LONGEST_NAME_BYTES);
  const meant = `${PREFIX}${name}`;
  const hint = isModel(meant) ? ` Did you mean "${meant}"?` : '';
  return new AdmissionError('model_not_allowed', {
    message: `There is no model "${shown}" here.${hint} GET /v1/models lists yours.`,
    param: 'model',
  });
}

/** A chat model was called at the endpoint for embeddings, or an embedding model at the endpoint for chat. */
export const wrongEndpoint = ({ publicName, kind }: CatalogModel): AdmissionError =>
  new AdmissionError('invalid_body', {
    message:
      kind === 'embedding'
        ? `The model "${publicName}" is an embedding model. Use POST /v1/embeddings.`
        : `The model "${publicName}" is a chat model. Use POST /v1/chat/completions.`,
    param: 'model',
  });

export const upstreamUnconfigured = (): AdmissionError => final(new AdmissionError('upstream_unconfigured'));

export const dailyCapExceeded = (): AdmissionError => final(new AdmissionError('daily_cap_exceeded'));

/** Sends `Retry-After`, since calls in flight hold the rest, and tells SDKs not to retry, as always with this code. */
export const dailyCapHeld = (): AdmissionError =>
  final(
    new AdmissionError('daily_cap_exceeded', {
      message: "Calls in progress have reserved the rest of this key's daily limit. Try again in a moment.",
      retryAfterSeconds: 1,
    }),
  );

/** The guard of the key has acted. This lasts until the month is over or the key's owner undoes it. */
export const keyGuardReached = (): AdmissionError => final(new AdmissionError('key_guard_reached'));

/** The guard's model can't be used any more. The call doesn't run on the requested model, which costs more. */
export const guardModelGone = (model: string): AdmissionError =>
  final(
    new AdmissionError('key_guard_reached', {
      message: `This key's guard moves its calls to "${model}", which your plan no longer includes. Change or remove the guard.`,
    }),
  );

/** Calls in flight may reach the percentage at which the guard acts. Like `dailyCapHeld`. */
export const keyGuardHeld = (): AdmissionError =>
  final(
    new AdmissionError('key_guard_reached', {
      message: "Calls in progress may use up what this key's guard allows. Try again in a moment.",
      retryAfterSeconds: 1,
    }),
  );

/** The guard of the key has slowed it down. */
export function slowedDown(rate: WindowDecision): AdmissionError {
  const seconds = Math.ceil(rate.resetMs / 1000);
  const error = new AdmissionError('rate_limit_exceeded', {
    message: `This key's guard has slowed it down to ${rate.limit} ${rate.limit === 1 ? 'request' : 'requests'} per minute. Try again in ${seconds} s.`,
    retryAfterSeconds: seconds,
    retryAfterMs: rate.resetMs,
  });
  error.rate = rate;
  return error;
}

export function rateExceeded(rate: WindowDecision): AdmissionError {
  const seconds = Math.ceil(rate.resetMs / 1000);
  const error = new AdmissionError('rate_limit_exceeded', {
    message: `Your plan allows ${rate.limit} requests per minute. Try again in ${seconds} s.`,
    retryAfterSeconds: seconds,
    retryAfterMs: rate.resetMs,
  });
  error.rate = rate;
  return error;
}

/** Too many calls of the account were refused. For a while, its calls are refused unread. */
export function refusalsExceeded(perMinute: number, rate: WindowDecision): AdmissionError {
  const seconds = Math.min(MAX_WAIT_SECONDS, Math.ceil(rate.resetMs / 1000));
  const error = new AdmissionError('rate_limit_exceeded', {
    message: `More than ${perMinute} calls of this account were rejected within a minute. Fix the reported errors, and try again in ${seconds} s.`,
    retryAfterSeconds: seconds,
  });
  error.rate = rate;
  return error;
}

/** SDKs ignore a `Retry-After` of a minute or more. */
const MAX_WAIT_SECONDS = 59;
