import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Tracing } from '../lib/tracing/tracing.js';
import { modelNotFound, sendError } from './answers.js';
import { Call, type CallDeps } from './call.js';
import { readRequest } from './request.js';
import { INFERENCE_BYTES, rules } from './route-rules.js';

/** When these models were first listed; SDKs want a number. */
const MODELS_CREATED = 1_763_683_200;
const MAX_SHOWN_NAME = 100;
const MS_PER_SECOND = 1000;

export interface InferenceDeps extends CallDeps {
  tracing: Tracing | undefined;
}

export function inferenceRoutes(app: FastifyInstance, deps: InferenceDeps): void {
  const forward = (path: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = readRequest(path, request.body, request.headers.authorization);
    // The call alone decides how long it is kept.
    request.body = undefined;
    if (!('member' in asked)) return sendError(reply, asked);
    if (deps.router().line(asked.model).length === 0) {
      return sendError(reply, modelNotFound(asked.model.slice(0, MAX_SHOWN_NAME)));
    }
    reply.hijack();
    const started = performance.now();
    const span = deps.tracing?.of(request.raw);
    span?.note({ 'http.route': path, 'gen_ai.request.model': asked.model });
    const outcome = await new Call(deps, asked, reply.raw, span).run();
    span?.note({ 'gateway.outcome': outcome });
    deps.metrics.finished(asked.model, outcome, (performance.now() - started) / MS_PER_SECOND);
  };

  app.post('/v1/chat/completions', rules('key', INFERENCE_BYTES), forward('/chat/completions'));
  app.post('/v1/embeddings', rules('key', INFERENCE_BYTES), forward('/embeddings'));
  app.get('/v1/models', rules('key'), () => ({
    object: 'list',
    data: deps
      .router()
      .models()
      .map(({ name, ownedBy }) => ({
        id: name,
        object: 'model',
        created: MODELS_CREATED,
        owned_by: ownedBy,
      })),
  }));
}
