import type { Span } from '../lib/tracing/tracing.js';
import { modelNotFound, type ProxyError } from './answers.js';
import { Call, type CallDeps } from './call.js';
import type { Caller } from './caller.js';
import { type Asked, readRequest } from './request.js';

const MAX_SHOWN_NAME = 100;
const MS_PER_SECOND = 1000;

/** Reads a call whose key is known, from wherever it came; or says what it is refused with. */
export function readCall(deps: CallDeps, path: string, body: unknown, owner: string): Asked | ProxyError {
  const asked = readRequest(path, body, owner);
  if ('member' in asked && deps.router().line(asked.model).length === 0)
    return modelNotFound(asked.model.slice(0, MAX_SHOWN_NAME));
  return asked;
}

/** Answers such a call, counts it, and notes it in its span. Never rejects. */
export async function runCall(
  deps: CallDeps,
  asked: Asked,
  caller: Caller,
  span: Span | undefined,
): Promise<void> {
  const started = performance.now();
  span?.note({ 'gen_ai.request.model': asked.model });
  const outcome = await new Call(deps, asked, caller, span).run();
  span?.note({ 'gateway.outcome': outcome });
  deps.metrics.finished(asked.model, outcome, (performance.now() - started) / MS_PER_SECOND);
}
