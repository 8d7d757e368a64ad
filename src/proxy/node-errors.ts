import { errors } from 'undici';
import { errorEntry } from '../errors.js';
import { cleanAddresses } from '../lib/clean-message.js';
import { bodyOf, type ProxyError, tableError, upstreamFailed, upstreamTooSlow } from './answers.js';
import { cleanStrings, publicNames } from './public-words.js';
import { UpstreamGarbage } from './restamp.js';
import type { Deployment } from './routing.js';

const MAX_RETRY_AFTER_SECONDS = 3_600;
const DEFAULT_RETRY_AFTER_SECONDS = 5;
const REFUSED = 'The model refused the request.';

/** Judges a failure to get an answer, or all of it. */
export function judgeFailure(failure: unknown): Extract<Verdict, { kind: 'failed' }> {
  const slow =
    failure instanceof errors.HeadersTimeoutError ||
    failure instanceof errors.BodyTimeoutError ||
    failure instanceof errors.ConnectTimeoutError;
  if (slow) return { kind: 'failed', error: upstreamTooSlow, reason: 'timeout' };
  const reason = failure instanceof UpstreamGarbage ? 'garbage' : 'connection';
  return { kind: 'failed', error: upstreamFailed, reason };
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

/** Whose fault a node's error is, and what the caller is told. */
export type Verdict =
  /** The caller's own: another deployment would say the same, and this one is none the worse for it. */
  | { kind: 'refused'; status: number; body: Record<string, unknown>; outcome: string }
  /** The deployment's: another may do better. */
  | { kind: 'failed'; error: ProxyError; reason: string };

/** A request that is too large for a node, or of a form it doesn't take, says nothing about the node. */
const OVERSIZED = new Set([411, 413, 414, 415, 431]);

/** Judges the node's answer other than 2xx. */
export function judgeStatus(
  status: number,
  text: string,
  retryAfter: string | undefined,
  deployment: Deployment,
): Verdict {
  const outcome = `upstream_${status}`;
  if (status === 400 || status === 422)
    return { kind: 'refused', status, body: refusal(text, deployment), outcome };
  if (OVERSIZED.has(status)) {
    return { kind: 'refused', status: upstreamFailed.status, body: bodyOf(upstreamFailed), outcome };
  }
  const reason = `status_${status}`;
  if (status === 429) {
    return {
      kind: 'failed',
      error: tableError('upstream_unavailable', 503, retryAfterOf(retryAfter)),
      reason,
    };
  }
  return {
    kind: 'failed',
    error: status === 408 || status === 504 ? upstreamTooSlow : upstreamFailed,
    reason,
  };
}

/** Judges an error object that came with a 200, in a stream or for a whole answer. Its code may be a status. */
export function judgePayload(payload: Buffer, deployment: Deployment): Verdict {
  const text = payload.toString('utf8');
  return judgeStatus(statusIn(text), text, undefined, deployment);
}

function statusIn(text: string): number {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; status?: unknown } };
    const code = Number(error?.code ?? error?.status);
    return Number.isInteger(code) && code >= 400 && code <= 599 ? code : 502;
  } catch {
    return 502;
  }
}
