import type { ServerResponse } from 'node:http';
import { type ErrorCode, errorBody, errorEntry } from '../errors.js';
import type { FailureOptions } from '../inference/relay/upstream-failure.js';
import type { WindowDecision } from '../lib/sliding-window.js';

/**
 * Headers of a `/v1` response. The gateway builds them; no upstream header is forwarded. An alternating list of names and values,
 * which Node writes without looking up each name.
 */
export type AnswerHeaders = string[];

const EXPOSED = [
  'x-request-id',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-gateway-dropped-fields',
].join(', ');

/** The headers of every `/v1` response, and those that let a script in a browser read it. */
export function v1Headers(
  response: ServerResponse,
  requestId: string,
  rate: WindowDecision | undefined,
): AnswerHeaders {
  const headers: AnswerHeaders = [
    'x-request-id',
    requestId,
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
  ];
  if (response.req.headers.origin !== undefined) {
    headers.push('access-control-allow-origin', '*', 'access-control-expose-headers', EXPOSED);
  }
  if (rate) {
    headers.push(
      'x-ratelimit-limit-requests',
      String(rate.limit),
      'x-ratelimit-remaining-requests',
      String(rate.remaining),
      'x-ratelimit-reset-requests',
      `${(rate.resetMs / 1000).toFixed(3)}s`,
    );
  }
  return headers;
}

/** Answers a CORS preflight. Any site may call `/v1`, since it authenticates by key and ignores cookies. */
export function answerPreflight(
  response: ServerResponse,
  requestId: string,
  requestedHeaders: string | undefined,
): void {
  response.writeHead(204, {
    'x-request-id': requestId,
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': safeHeaderList(requestedHeaders) ?? 'authorization, content-type',
    'access-control-max-age': '86400',
    vary: 'access-control-request-headers',
  });
  response.end();
}

function safeHeaderList(text: string | undefined): string | undefined {
  return text && /^[\w-]+(?:\s*,\s*[\w-]+)*$/.test(text) ? text : undefined;
}

/** Ends a response with JSON in one write. */
export function answerJson(
  response: ServerResponse,
  status: number,
  headers: AnswerHeaders,
  body: Buffer,
): void {
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', String(body.length));
  response.writeHead(status, headers);
  response.end(body);
}

/** OpenAI's SDKs 4 and 5 ignore waits of a minute or more: they retry immediately, and then give up. */
const MAX_RETRY_SECONDS = 59;
const MAX_RETRY_MS = 59_999;

function pushRetryAfter(headers: AnswerHeaders, seconds: number, ms = seconds * 1_000): void {
  headers.push(
    'retry-after',
    String(Math.min(MAX_RETRY_SECONDS, Math.ceil(seconds))),
    'retry-after-ms',
    String(Math.min(MAX_RETRY_MS, Math.ceil(ms))),
  );
}

/** Ends a response with an error in the API's format. */
export function answerError(
  response: ServerResponse,
  code: ErrorCode,
  options: FailureOptions,
  headers: AnswerHeaders,
): void {
  if (options.retryAfterSeconds !== undefined)
    pushRetryAfter(headers, options.retryAfterSeconds, options.retryAfterMs);
  if (options.noRetry) headers.push('x-should-retry', 'false');
  const body = Buffer.from(JSON.stringify(errorBody(code, options)));
  answerJson(response, options.status ?? errorEntry(code).status, headers, body);
}
