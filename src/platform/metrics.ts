import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';

/** Seconds. The platform's own work takes milliseconds, hashing tens of them, a frozen database seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts requests and errors by code and measures latency by route, never by path, which contains ids. */
export function measureRequests(app: FastifyInstance, registry: Registry): void {
  const requests = new Counter({
    name: 'platform_requests_total',
    help: 'HTTP requests by route and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const errors = new Counter({
    name: 'platform_errors_total',
    help: 'Error responses by code.',
    labelNames: ['code'],
    registers: [registry],
  });
  const latency = new Histogram({
    name: 'platform_request_duration_seconds',
    help: 'Time from request to end of response, by route.',
    labelNames: ['method', 'route'],
    buckets: BUCKETS,
    registers: [registry],
  });
  app.decorateReply('errorCode', null);
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    requests.inc({ method: request.method, route, status: reply.statusCode });
    latency.observe({ method: request.method, route }, reply.elapsedTime / 1000);
    if (reply.errorCode) errors.inc({ code: reply.errorCode });
  });
}
