import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Tracing } from '../lib/tracing/tracing.js';
import { bearerOf } from '../router/key-check.js';
import type { RoutedCallDeps } from '../router/routed-call.js';
import { readCall, runCall } from '../router/take-call.js';
import type { VirtualKeys } from '../router/virtual-keys.js';
import { HttpSink } from './http-sink.js';
import { INFERENCE_BYTES, proxyRules } from './route-rules.js';
import { sendProxyError } from './send-error.js';

export interface InferenceDeps {
  calls: RoutedCallDeps;
  keys: Pick<VirtualKeys, 'ownerOf'>;
  tracing: Tracing | undefined;
}

/** SDKs expect a creation time, so every model has this one. */
const MODELS_CREATED = 1_763_683_200;

/** Calls to models, and the list of models. */
export function inferenceRoutes(app: FastifyInstance, { calls, keys, tracing }: InferenceDeps): void {
  const forward = (path: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    const owner = keys.ownerOf(bearerOf(request.headers.authorization) ?? '');
    const call = readCall(calls, path, request.body, owner);
    // From here on only the call keeps the body in memory.
    request.body = undefined;
    if (!('member' in call)) return sendProxyError(reply, call);
    reply.hijack();
    const span = tracing?.of(request.raw);
    span?.note({ 'http.route': path });
    await runCall(calls, call, new HttpSink(reply.raw), span);
  };

  app.post('/v1/chat/completions', proxyRules('key', INFERENCE_BYTES), forward('/chat/completions'));
  app.post('/v1/embeddings', proxyRules('key', INFERENCE_BYTES), forward('/embeddings'));
  app.get('/v1/models', proxyRules('key'), () => ({
    object: 'list',
    data: calls
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
