import { AppError, errorEntry } from '../errors.js';
import { type MessageMask, maskedParam } from '../lib/message-mask.js';
import { fieldErrors, shownFieldErrors } from '../lib/upstream/field-errors.js';
import { saysNotTaken } from '../lib/upstream/not-taken.js';
import { UNREACHED } from '../lib/upstream/patient-connector.js';
import { refusalCode, statusOfError } from '../lib/upstream/refusal-codes.js';
import { unwrapMessage } from '../lib/upstream/unwrap-message.js';
import { UpstreamTimeoutError } from '../lib/upstream/upstream-handler.js';
import {
  answerTooLarge,
  bodyOf,
  notTaken,
  type ProxyError,
  tableError,
  upstreamFailed,
  upstreamTooSlow,
} from './answers.js';
import { type BoundField, fieldTaken } from './output-bound.js';
import { MalformedResponseError } from './rewrite-model-name.js';
import type { Deployment } from './routing.js';

const MAX_RETRY_AFTER_SECONDS = 3_600;
const DEFAULT_RETRY_AFTER_SECONDS = 5;
const MS_PER_SECOND = 1000;
const MAX_READ = 8_192;
/** Parsing more would block other calls. */
const MAX_PARSED_BYTES = 1024 * 1024;

/** Classifies a failure to get a complete answer. */
export function judgeFailure(failure: unknown): Extract<FailureVerdict, { kind: 'failed' }> {
  if (failure instanceof UpstreamTimeoutError)
    return { kind: 'failed', error: upstreamTooSlow, reason: 'timeout', certain: !failure.connected };
  const reason = failure instanceof MalformedResponseError ? 'garbage' : 'connection';
  // The worker thread died: our fault, not the node's.
  if (failure instanceof AppError)
    return { kind: 'failed', error: noRoom, reason: 'own_limit', certain: false, own: true };
  const code = String((failure as { code?: unknown } | null)?.code);
  if (OWN_LACK.has(code))
    return { kind: 'failed', error: noRoom, reason: 'own_limit', certain: false, own: true };
  const cause = reason === 'connection' ? causeOf(failure) : undefined;
  return { kind: 'failed', error: upstreamFailed, reason, cause, certain: UNREACHED.has(code) };
}

/** Such as `ECONNREFUSED`, `DEPTH_ZERO_SELF_SIGNED_CERT` or `HPE_INVALID_CONSTANT`. */
const CAUSE_CODE = /^[A-Z][A-Z0-9_]{1,60}$/;
const MOST_CAUSES = 4;

/** The code of the innermost cause of a broken connection. For operators, never for callers. */
function causeOf(failure: unknown): string | undefined {
  let found: string | undefined;
  let at = failure as { code?: unknown; cause?: unknown; errors?: unknown[] } | null | undefined;
  for (let depth = 0; depth < MOST_CAUSES && typeof at === 'object' && at !== null; depth++) {
    if (typeof at.code === 'string' && CAUSE_CODE.test(at.code)) found = at.code;
    // If a name has several addresses, each has failed.
    at = (at.cause ?? at.errors?.[0]) as typeof at;
  }
  return found;
}

/** This process has no file descriptor or memory left for a connection. */
const OWN_LACK = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);
const noRoom = tableError('upstream_unavailable', 503, 1);

/** Seconds of a `Retry-After`; undefined if it is missing or a date. */
function retryAfterOf(header: string | undefined): number | undefined {
  if (header === undefined || !/^\d{1,6}(?:\.\d{1,6})?$/.test(header)) return undefined;
  return Math.min(Math.max(Math.ceil(Number(header)), 1), MAX_RETRY_AFTER_SECONDS);
}

/**
 * The message in an error body. `error` is `body.error` if that is an object, else the body itself: OpenAI sends `error.message`,
 * others `error` or `message`, FastAPI and Mistral `detail`, as a text or as a list of fields.
 */
function messageOf(body: Record<string, unknown>, error: Record<string, unknown>): string {
  const text = [error.message, body.message, body.error, body.detail].find((one) => typeof one === 'string');
  // Python servers append the caller's input to errors of fields: cut before searching.
  const message = ((text as string | undefined) ?? '').slice(0, MAX_READ);
  const detail = body.detail ?? (body.message as { detail?: unknown } | undefined)?.detail;
  return fieldErrors(detail) ?? shownFieldErrors(message) ?? message;
}

/** Turns a node's 400 or 422 into ours: the caller is at fault and gets the node's message, masked. */
function refusal(
  text: string,
  { node, group }: Deployment,
  mask: MessageMask,
): Pick<Refused, 'body' | 'takes'> {
  const body = objectOf(text);
  const error = typeof body.error === 'object' ? ((body.error ?? {}) as Record<string, unknown>) : body;
  // Unwrap before masking: after an escape such as `\n`, a name doesn't begin at a word boundary.
  const whole = messageOf(body, error);
  const unwrapped = unwrapMessage(whole) ?? '';
  const message = mask(unwrapped, { from: node.read().upstreamModel, to: group });
  const { type, message: refused } = errorEntry('invalid_request');
  const param = maskedParam(error.param, mask) ?? null;
  const code =
    refusalCode(whole, error.code, error.type) ??
    (error !== body && typeof error.code === 'number' ? error.code : 'invalid_request');
  return {
    body: { error: { message: message || refused, type, param, code } },
    takes: fieldTaken(unwrapped, error.code, error.param),
  };
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

interface Refused {
  kind: 'refused';
  status: number;
  body: Record<string, unknown>;
  outcome: string;
  /** The bound field that the node accepts instead of the one sent. */
  takes?: BoundField | undefined;
}

/** Whose fault a node's error is, and what the caller gets. */
export type FailureVerdict =
  /** The caller's fault: another deployment would refuse, too, and this one's health is unaffected. */
  | Refused
  /**
   * The deployment's fault: another one may succeed. `certain`: no request can have caused it. `own`: this process's fault, so no
   * other deployment can succeed.
   */
  | {
      kind: 'failed';
      error: ProxyError;
      reason: string;
      cause?: string | undefined;
      certain: boolean;
      own?: true;
      /** Milliseconds for which the provider wants no more calls. */
      waitMs?: number | undefined;
    };

export const tooLarge: Refused = {
  kind: 'refused',
  status: answerTooLarge.status,
  body: bodyOf(answerTooLarge),
  outcome: 'answer_too_large',
};

/** Judges an answer of the node whose status isn't 2xx. */
export function judgeStatus(
  status: number,
  text: string,
  retryAfter: string | undefined,
  deployment: Deployment,
  mask: MessageMask,
): FailureVerdict {
  const outcome = `upstream_${status}`;
  if (status === 400 || status === 422)
    return { kind: 'refused', status, outcome, ...refusal(text, deployment, mask) };
  if (saysNotTaken(status))
    return { kind: 'refused', status: notTaken.status, body: bodyOf(notTaken), outcome };
  const reason = `status_${status}`;
  if (status === 429) {
    const seconds = retryAfterOf(retryAfter);
    return {
      kind: 'failed',
      error: tableError('upstream_unavailable', 503, seconds ?? DEFAULT_RETRY_AFTER_SECONDS),
      reason,
      certain: false,
      waitMs: seconds && seconds * MS_PER_SECOND,
    };
  }
  return {
    kind: 'failed',
    error: status === 408 || status === 504 ? upstreamTooSlow : upstreamFailed,
    reason,
    certain: false,
  };
}

/** Judges an error object that came with a 200, in a stream or as a whole answer. Its code may be a status. */
export function judgePayload(payload: Buffer, deployment: Deployment, mask: MessageMask): FailureVerdict {
  const text = payload.length > MAX_PARSED_BYTES ? '' : payload.toString('utf8');
  return judgeStatus(statusIn(text), text, undefined, deployment, mask);
}

function statusIn(text: string): number {
  const body = objectOf(text);
  // With `object: "error"`, the answer itself is the error.
  const error = typeof body.error === 'object' ? ((body.error ?? body) as Record<string, unknown>) : body;
  const { code, status, type } = error;
  return statusOfError({ code: code ?? status, type, message: messageOf(body, error) });
}
