import { type ErrorCode, errorBody, errorEntry } from '../errors.js';
import { NOT_TAKEN, NOT_TAKEN_CODE } from '../lib/upstream/not-taken.js';

/** An error in the format of LiteLLM's proxy. */
export interface ProxyError {
  status: number;
  type: string;
  code: string;
  message: string;
  param?: string;
  /** Seconds, sent as `Retry-After`. */
  retryAfterSeconds?: number;
}

export const unauthorised = (message: string): ProxyError => ({
  status: 401,
  type: 'auth_error',
  code: '401',
  message,
});

export const keysUnavailable: ProxyError = {
  status: 503,
  type: 'server_error',
  code: 'service_unavailable',
  message: 'Virtual keys can not be looked up at the moment. Try again in a moment.',
  retryAfterSeconds: 1,
};

export const badRequest = (message: string, param?: string): ProxyError => ({
  status: 400,
  type: 'invalid_request_error',
  code: 'invalid_body',
  message,
  param,
});

export const modelNotFound = (model: string): ProxyError => ({
  status: 400,
  type: 'invalid_request_error',
  code: 'model_not_found',
  message: `Invalid model name passed in model=${model}. GET /v1/models lists the models.`,
  param: 'model',
});

/** A refusal by the router itself, with the status, type and message of the shared table (src/errors.ts). */
export function refusalOf(code: ErrorCode): ProxyError {
  const { status, type, message } = errorEntry(code);
  return { status, type, code, message };
}

/** An error of the shared table (src/errors.ts) with another status than the table's. */
export function tableError(
  code: 'upstream_error' | 'upstream_unavailable' | 'upstream_timeout',
  status: number,
  retryAfterSeconds?: number,
): ProxyError {
  const { error } = errorBody(code);
  return { status, type: error.type, code, message: error.message, retryAfterSeconds };
}

/** The same error with a `Retry-After` of at most this time. */
export function capRetryAfter(error: ProxyError, mostMs: number): ProxyError {
  const most = Math.max(1, Math.ceil(mostMs / 1000));
  return { ...error, retryAfterSeconds: Math.min(error.retryAfterSeconds ?? most, most) };
}

export const answerTooLarge: ProxyError = {
  status: 400,
  type: 'invalid_request_error',
  code: 'invalid_request',
  message:
    'The answer is too large. Ask for less in one request: fewer inputs, a smaller n, max_tokens or top_logprobs.',
};

export const upstreamFailed = tableError('upstream_error', 502);
export const notTaken: ProxyError = { ...upstreamFailed, code: NOT_TAKEN_CODE, message: NOT_TAKEN };
export const upstreamTooSlow = tableError('upstream_timeout', 504);

export const bodyOf = ({ message, type, param, code }: ProxyError) => ({
  error: { message, type, param: param ?? null, code },
});
