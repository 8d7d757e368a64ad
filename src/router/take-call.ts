import type { Span } from '../lib/tracing/tracing.js';
import { modelNotFound, type ProxyError } from './answers.js';
import { type ProxyRequest, readRequest } from './request.js';
import { RoutedCall, type RoutedCallDeps } from './routed-call.js';
import type { RouterSink } from './router-sink.js';

const MAX_SHOWN_NAME = 100;
const MS_PER_SECOND = 1000;

/** Reads the request of an authenticated call, or returns the error to answer with. */
export function readCall(
  deps: RoutedCallDeps,
  path: string,
  body: unknown,
  owner: string,
): ProxyRequest | ProxyError {
  const request = readRequest(path, body, owner);
  if ('member' in request && deps.router().groupsFor(request.model).length === 0)
    return modelNotFound(request.model.slice(0, MAX_SHOWN_NAME));
  return request;
}

/** Answers a call, counts it, and notes its outcome in the span. Never rejects. */
export async function runCall(
  deps: RoutedCallDeps,
  request: ProxyRequest,
  sink: RouterSink,
  span: Span | undefined,
): Promise<void> {
  const started = performance.now();
  span?.note({ 'gen_ai.request.model': request.model });
  const outcome = await new RoutedCall(deps, request, sink, span).run();
  span?.note({ 'gateway.outcome': outcome });
  deps.metrics.finished(request.model, outcome, (performance.now() - started) / MS_PER_SECOND);
}
