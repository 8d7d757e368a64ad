import type { FastifyInstance } from 'fastify';
import type { Tracing } from '../lib/tracing/tracing.js';

/** Traces requests by route, never by path, which contains ids. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  tracing.watch(app.server);
  app.addHook('onRequest', (request, _reply, done) => {
    tracing.of(request.raw)?.note({ 'http.route': request.routeOptions.url ?? 'none' });
    tracing.run(request.raw, done);
  });
  app.addHook('onResponse', async (request, reply) => {
    tracing.of(request.raw)?.note({ 'error.type': reply.errorCode });
  });
}
