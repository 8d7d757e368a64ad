import type { Span } from '../lib/tracing/tracing.js';
import { modelNotFound, type ProxyError } from './answers.js';
import { type ProxyRequest, readRequest } from './request.js';
import { RoutedCall, type RoutedCallDeps } from './routed-call.js';
import type { RouterSink } from './router-sink.js';

const MAX_SHOWN_NAME = 100;
const MS_PER_SECOND = 1000;

/** Reads a call whose key is known, from wherever it came; or says what it is refused with. */
export function readCall(
  deps: RoutedCallDeps,
  path: string,
  body: unknown,
  owner: string,
): ProxyRequest | ProxyError {
  const asked = readRequest(path, body, owner);
  if ('member' in asked && deps.router().line(asked.model).length === 0)
    return modelNotFound(asked.model.slice(0, MAX_SHOWN_NAME));
  return asked;
}

/** Answers such a call, counts it, and notes it in its span. Never rejects. */
export async function runCall(
  deps: RoutedCallDeps,
  asked: ProxyRequest,
  caller: RouterSink,
  span: Span | undefined,
): Promise<void> {
  const started = performance.now();
  span?.note({ 'gen_ai.request.model': asked.model });
  const outcome = await new RoutedCall(deps, asked, caller, span).run();
  span?.note({ 'gateway.outcome': outcome });
  deps.metrics.finished(asked.model, outcome, (performance.now() - started) / MS_PER_SECOND);
}
