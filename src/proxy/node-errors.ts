import { errors } from 'undici';
import { errorEntry } from '../errors.js';
import { cleanAddresses } from '../lib/clean-message.js';
import { type ProxyError, tableError, upstreamFailed, upstreamTooSlow } from './answers.js';
import { cleanStrings, publicNames } from './public-words.js';
import type { Deployment } from './routing.js';

const MAX_RETRY_AFTER_SECONDS = 3_600;
const DEFAULT_RETRY_AFTER_SECONDS = 5;
const REFUSED = 'The model refused the request.';

/** Raised by our own timer: no byte moved for as long as the deployment may take. */
export class UpstreamSilent extends Error {
  override name = 'UpstreamSilent';
}

/** What a caller is told when the node didn't answer at all. */
export function errorOfFailure(failure: unknown): ProxyError {
  const slow =
    failure instanceof UpstreamSilent ||
    failure instanceof errors.HeadersTimeoutError ||
    failure instanceof errors.BodyTimeoutError ||
    failure instanceof errors.ConnectTimeoutError;
  return slow ? upstreamTooSlow : upstreamFailed;
}

function retryAfterOf(header: string | undefined): number {
  const seconds = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isNaN(seconds)) return DEFAULT_RETRY_AFTER_SECONDS;
  return Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_SECONDS);
}

/** FastAPI says `detail`, others `message`, OpenAI `error.message`. */
function messageOf(body: Record<string, unknown>): string {
  for (const candidate of [body.message, body.detail, body.error]) {
    if (typeof candidate === 'string' && candidate !== '') return candidate;
  }
  return REFUSED;
}

/** The node's own 400 or 422: the caller's fault, so its words go on, cleaned of addresses and internal names. */
function refusal(text: string, deployment: Deployment): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  const clean = (words: string): string =>
    publicNames(cleanAddresses(words), deployment.upstreamModel, deployment.group);
  const body = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Record<string, unknown>;
  if (typeof body.error === 'object' && body.error !== null) {
    const { message, type, param, code } = body.error as Record<string, unknown>;
    return {
      error: {
        message: typeof message === 'string' ? clean(message) : REFUSED,
        type: typeof type === 'string' ? clean(type) : 'invalid_request_error',
        param: (cleanStrings(param, clean) as unknown) ?? null,
        code: (cleanStrings(code, clean) as unknown) ?? null,
      },
    };
  }
  const { type } = errorEntry('invalid_body');
  return { error: { message: clean(messageOf(body)), type, param: null, code: 'invalid_body' } };
}

/** What a caller gets for the node's answer other than 2xx. */
export function answerOfStatus(
  status: number,
  text: string,
  retryAfter: string | undefined,
  deployment: Deployment,
): { error: ProxyError } | { status: number; body: Record<string, unknown> } {
  if (status === 400 || status === 422) return { status, body: refusal(text, deployment) };
  if (status === 429) return { error: tableError('upstream_unavailable', 503, retryAfterOf(retryAfter)) };
  return { error: upstreamFailed };
}
