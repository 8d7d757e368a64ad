import type { IncomingMessage } from 'node:http';
import { AppError, type ErrorCode } from '../errors.js';
import { CallerGoneError } from '../inference/limits/limits.js';
import { countRefusal } from '../inference/limits/refusal-budget.js';
import { AdmissionError } from '../inference/limits/refusals.js';
import { answerError, v1Headers } from './answer.js';
import { cutSoon, SlowBodyError } from './collect-body.js';
import type { Exchange } from './exchange.js';
import type { V1Deps } from './v1-deps.js';

/** Responds with an error; anything that isn't an AppError is an internal error. */
export function answerFailure(deps: V1Deps, error: unknown, exchange: Exchange): void {
  if (error instanceof CallerGoneError) {
    deps.metrics.answered(exchange.endpoint, 'client_closed_request');
    return;
  }
  if (error instanceof AppError) {
    sendError(deps, exchange, error);
    return;
  }
  deps.log.error({ err: error, reqId: exchange.id }, 'a /v1 request failed');
  sendError(deps, exchange, new AppError('internal_error'));
}

function sendError(deps: V1Deps, exchange: Exchange, error: AppError): void {
  const { id, request, response, keyEntry, endpoint } = exchange;
  const now = deps.clock.now();
  const refused = error instanceof AdmissionError ? error : undefined;
  // Refusals report the rate limit too, without counting against it.
  const rate = refused?.rate ?? keyEntry?.account.window.peek(now);
  const status = error instanceof SlowBodyError ? 408 : error.status;
  answerError(
    response,
    error.code,
    { ...error.options, noRetry: refused?.noRetry, status },
    v1Headers(response, id, rate),
  );
  if (keyEntry) countRefusal(keyEntry.account, now, error, exchange.bodyBytes);
  countForOwner(deps, exchange, error.code, now);
  deps.tracing?.of(request)?.note({ 'error.type': error.code });
  if (hasBody(request) && !request.complete) cutSoon(request, response);
  deps.metrics.answered(endpoint, error.code);
}

/** Counts a refusal for the owner of the key, who couldn't see it otherwise, since it isn't usage. */
function countForOwner(
  deps: V1Deps,
  { id, presentedKey, model }: Exchange,
  code: ErrorCode,
  at: number,
): void {
  if (!presentedKey) return;
  deps.refused.count({
    id,
    accountId: presentedKey.account.id,
    keyId: presentedKey.credential.id,
    code,
    // Unknown names aren't stored, so callers can't fill our tables with them.
    model: model !== null && deps.catalog.get(model) ? model : '',
    at,
  });
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
