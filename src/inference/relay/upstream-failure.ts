import { type ErrorCode, type ErrorOptions, errorEntry } from '../../errors.js';
import { type MessageMask, maskedParam } from '../../lib/message-mask.js';
import { fieldErrors } from '../../lib/upstream/field-errors.js';
import { NOT_TAKEN, NOT_TAKEN_CODE, saysNotTaken } from '../../lib/upstream/not-taken.js';
import { refusalCode, statusOfError } from '../../lib/upstream/refusal-codes.js';
import { unwrapMessage } from '../../lib/upstream/unwrap-message.js';

export interface FailureOptions extends ErrorOptions {
  /** The status when it isn't the code's own. */
  status?: number;
  /** Tells SDKs not to retry, because a retry would fail too. */
  noRetry?: boolean;
}

/** How an upstream failure is reported to the caller. */
export interface UpstreamFailure {
  code: ErrorCode;
  options: FailureOptions;
}

/** The status of an answer that is this failure. */
export const failureStatus = ({ code, options }: UpstreamFailure): number =>
  options.status ?? errorEntry(code).status;

const DEFAULT_RETRY_SECONDS = 5;

/** A budget or limit that the operator set at an external model proxy is no fault of the caller's request. */
const BUDGET = /Budget has been exceeded!|ExceededBudget:|exceeded budget for|crossed budget/;
/** How LiteLLM reports that a whole group is parked, with any status. */
const NO_DEPLOYMENT = /No (?:healthy )?deployments? available/;
/** How model proxies say that their routing doesn't serve the model. The edge has let the caller have it: the operator left it out. */
const NOT_ROUTED = /^(?:\{'error': ["'])?(?:\/[\w/]+: )?Invalid model name passed in model=/;
const TRY_AGAIN = /Try again in (\d{1,6}(?:\.\d+)?) seconds/;

/**
 * Maps an error response of the upstream. Its 400 and 422 are the caller's to fix: same status, and the message
 * without what is the operator's. Everything else gets our own message, so that nothing of the upstream leaks.
 */
export function mapStatus(
  status: number,
  body: Buffer,
  retryAfter: string | undefined,
  mask: MessageMask,
): UpstreamFailure {
  const { message = '', type, code, param } = readError(body);
  const unavailable =
    status === 429 ||
    (status === 503 && code === 'upstream_unavailable') ||
    type === 'budget_exceeded' ||
    BUDGET.test(message) ||
    NO_DEPLOYMENT.test(message) ||
    (status === 400 && (code === 'model_not_found' || NOT_ROUTED.test(message)));
  if (unavailable) {
    const told = retryAfter ?? TRY_AGAIN.exec(message)?.[1];
    return { code: 'upstream_unavailable', options: { retryAfterSeconds: readRetryAfter(told) } };
  }
  if (status === 400 || status === 422) {
    const shownCode = refusalCode(message, code, type);
    const masked = mask(unwrapMessage(message) ?? '') || undefined;
    return {
      code: 'invalid_request',
      options: { status, message: masked, param: maskedParam(param, mask), shownCode },
    };
  }
  if (saysNotTaken(status) || code === NOT_TAKEN_CODE)
    return { code: 'upstream_error', options: { message: NOT_TAKEN, noRetry: true } };
  if (status === 408 || status === 504) return { code: 'upstream_timeout', options: {} };
  return { code: 'upstream_error', options: {} };
}

const TIMEOUT_CODES = new Set(['UPSTREAM_TIMEOUT', 'ETIMEDOUT']);

/** Maps a failure to get an answer at all. */
export function mapTransportError(error: unknown): UpstreamFailure {
  const code = (error as { code?: string } | null)?.code;
  return {
    code: code !== undefined && TIMEOUT_CODES.has(code) ? 'upstream_timeout' : 'upstream_error',
    options: {},
  };
}

/** Maps an error object that came where a stream's first chunk should be; its code may be the status. */
export function mapErrorChunk(payload: Buffer, mask: MessageMask): UpstreamFailure {
  const { code, type, message } = readError(payload);
  return mapStatus(statusOfError({ code, type, message }), payload, undefined, mask);
}

interface ErrorFields {
  message?: string;
  type?: string;
  code?: string;
  param?: string;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** OpenAI's `error`, an object or a text; FastAPI's `detail`, a text, a list of fields or around it; older vLLM's `object: "error"`. */
function readError(body: Buffer): ErrorFields {
  try {
    const fields = JSON.parse(body.toString()) as { error?: unknown; detail?: unknown; object?: unknown };
    const { error, detail } = fields;
    const itself = fields.object === 'error' ? fields : undefined;
    const told = error ?? (detail as { error?: unknown } | undefined)?.error ?? detail ?? itself;
    if (Array.isArray(told)) return { message: fieldErrors(told) };
    if (typeof told !== 'object' || told === null) return { message: textOf(told) };
    const { message, type, code, param } = told as Record<string, unknown>;
    return {
      message: textOf(message),
      type: textOf(type),
      code: typeof code === 'string' || typeof code === 'number' ? String(code) : undefined,
      param: textOf(param),
    };
  } catch {
    return {};
  }
}

function readRetryAfter(value: string | undefined): number {
  const seconds = Number(value);
  if (!Number.isFinite(seconds) || seconds <= 0) return DEFAULT_RETRY_SECONDS;
  return Math.ceil(seconds);
}
