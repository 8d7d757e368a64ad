import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendError } from './answers.js';
import { HttpCaller } from './caller.js';
import { INFERENCE_BYTES, rules } from './route-rules.js';
import { type InferenceDeps, readCall, runCall } from './take-call.js';

/** When these models were first listed; SDKs want a number. */
const MODELS_CREATED = 1_763_683_200;

/** Calls of models over HTTP, and which models there are. */
export function inferenceRoutes(app: FastifyInstance, deps: InferenceDeps): void {
  const forward = (path: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = readCall(deps, path, request.body, request.headers.authorization);
    // The call alone decides how long it is kept.
    request.body = undefined;
    if (!('member' in asked)) return sendError(reply, asked);
    reply.hijack();
    await runCall(deps, asked, new HttpCaller(reply.raw), deps.tracing?.of(request.raw));
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
