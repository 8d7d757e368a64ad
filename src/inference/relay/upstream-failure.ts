import { type ErrorCode, type ErrorOptions, errorEntry } from '../../errors.js';
import { type MessageMask, maskedParam } from '../../lib/message-mask.js';
import { fieldErrors } from '../../lib/upstream/field-errors.js';
import { NOT_TAKEN, NOT_TAKEN_CODE, saysNotTaken } from '../../lib/upstream/not-taken.js';
import { refusalCode, statusOfError } from '../../lib/upstream/refusal-codes.js';
import { unwrapMessage } from '../../lib/upstream/unwrap-message.js';

export interface FailureOptions extends ErrorOptions {
  /** The status, if it differs from the code's. */
  status?: number;
  /** Asks SDKs not to retry, because a retry would fail too. */
  noRetry?: boolean;
}

/** How an upstream failure is reported to the caller. */
export interface UpstreamFailure {
  code: ErrorCode;
  options: FailureOptions;
}

/** The status of the response that reports this failure. */
export const failureStatus = ({ code, options }: UpstreamFailure): number =>
  options.status ?? errorEntry(code).status;

const DEFAULT_RETRY_SECONDS = 5;

/** Messages about a budget or limit that the operator set at an external model proxy. The caller can't mend that. */
const BUDGET = /Budget has been exceeded!|ExceededBudget:|exceeded budget for|crossed budget/;
/** LiteLLM's message, with any status, when all deployments of a model are cooling down. */
const NO_DEPLOYMENT = /No (?:healthy )?deployments? available/;
/** Messages of model proxies that don't serve the model. The edge does, so the operator has left it out of their routing. */
const NOT_ROUTED = /^(?:\{'error': ["'])?(?:\/[\w/]+: )?Invalid model name passed in model=/;
const TRY_AGAIN = /Try again in (\d{1,6}(?:\.\d+)?) seconds/;

/**
 * Maps an error response of the upstream. The caller can fix a 400 or 422, so it gets the same status and the masked message.
 * Everything else gets our own message, so that nothing about the upstream leaks.
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
    const seconds = retryAfter ?? TRY_AGAIN.exec(message)?.[1];
    return { code: 'upstream_unavailable', options: { retryAfterSeconds: readRetryAfter(seconds) } };
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

/** Maps an error of the connection, or a timeout. */
export function mapTransportError(error: unknown): UpstreamFailure {
  const code = (error as { code?: string } | null)?.code;
  return {
    code: code !== undefined && TIMEOUT_CODES.has(code) ? 'upstream_timeout' : 'upstream_error',
    options: {},
  };
}

/** Maps an error object that came with status 200, whole or as an event of a stream. Its code may be a status. */
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

/**
 * Reads OpenAI's `error`, an object or a text; FastAPI's `detail`, a text, a list of fields, or an object with an `error`; and
 * older vLLM's `object: "error"`.
 */
function readError(body: Buffer): ErrorFields {
  try {
    const fields = JSON.parse(body.toString()) as { error?: unknown; detail?: unknown; object?: unknown };
    const { error, detail } = fields;
    const itself = fields.object === 'error' ? fields : undefined;
    const reported = error ?? (detail as { error?: unknown } | undefined)?.error ?? detail ?? itself;
    if (Array.isArray(reported)) return { message: fieldErrors(reported) };
    if (typeof reported !== 'object' || reported === null) return { message: textOf(reported) };
    const { message, type, code, param } = reported as Record<string, unknown>;
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
