import type { ErrorCode } from '../errors.js';
import { cleanMessage } from '../lib/clean-message.js';
import type { V1ErrorOptions } from './answer.js';

/** How a failure of the upstream is told to the caller (CONTRACT.md "upstream failed"). */
export interface UpstreamFailure {
  code: ErrorCode;
  options: V1ErrorOptions;
}

const DEFAULT_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 600;

/**
 * Maps an error answer of the model proxy. Its 400 and 422 are the caller's to mend: same status, message cleaned.
 * Everything else is told in our words, so that nothing of the upstream leaks.
 */
export function mapStatus(status: number, body: Buffer, retryAfter: string | undefined): UpstreamFailure {
  if (status === 400 || status === 422) {
    const { message, param } = readError(body);
    return {
      code: 'invalid_request',
      options: { status, message: cleanMessage(message ?? 'The model refused the request.'), param },
    };
  }
  if (status === 429 || (status === 503 && readError(body).code === 'upstream_unavailable')) {
    return { code: 'upstream_unavailable', options: { retryAfterSeconds: readRetryAfter(retryAfter) } };
  }
  if (status === 408 || status === 504) return { code: 'upstream_timeout', options: {} };
  return { code: 'upstream_error', options: {} };
}

const TIMEOUT_CODES = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
]);

/** Maps a failure to get an answer at all. */
export function mapTransportError(error: unknown): UpstreamFailure {
  const code = (error as { code?: string } | null)?.code;
  return {
    code: code !== undefined && TIMEOUT_CODES.has(code) ? 'upstream_timeout' : 'upstream_error',
    options: {},
  };
}

/** Maps an error object that came where a stream's first chunk should be; its code may be the status. */
export function mapErrorChunk(payload: Buffer): UpstreamFailure {
  const { code } = readError(payload);
  const status = Number(code);
  return mapStatus(
    Number.isInteger(status) && status >= 400 && status <= 599 ? status : 502,
    payload,
    undefined,
  );
}

function readError(body: Buffer): { message?: string; code?: string; param?: string } {
  try {
    const { error } = JSON.parse(body.toString()) as { error?: unknown };
    if (typeof error === 'string') return { message: error };
    if (typeof error !== 'object' || error === null) return {};
    const { message, code, param } = error as Record<string, unknown>;
    return {
      message: typeof message === 'string' ? message : undefined,
      code: typeof code === 'string' || typeof code === 'number' ? String(code) : undefined,
      param: typeof param === 'string' && /^[\w.[\]-]{1,60}$/.test(param) ? param : undefined,
    };
  } catch {
    return {};
  }
}

function readRetryAfter(value: string | undefined): number {
  const seconds = Number(value);
  if (!Number.isFinite(seconds) || seconds <= 0) return DEFAULT_RETRY_SECONDS;
  return Math.min(MAX_RETRY_SECONDS, Math.ceil(seconds));
}
