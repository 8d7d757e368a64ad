import { z } from 'zod';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads } from './route-rules.js';

const health = z
  .object({ status: z.enum(['ok', 'unavailable']).describe('`ok` if the process is healthy.') })
  .meta({ id: 'Health', description: 'Health of this process.' });

/** \`ready\` tells whether the process can serve at the moment. */
export function healthRoutes(app: RestApp, ready: () => Promise<boolean>): void {
  app.route({
    method: 'GET',
    url: '/health',
    config: reads({ auth: 'none', rate: 'none' }),
    schema: {
      operationId: 'getHealth',
      tags: ['Health'],
      summary: 'Check liveness',
      description: 'Responds as long as the process runs.',
      security: [],
      response: { 200: health, ...errorResponses() },
    },
    handler: async () => ({ status: 'ok' as const }),
  });
  app.route({
    method: 'GET',
    url: '/health/ready',
    config: reads({ auth: 'none', rate: 'none' }),
    schema: {
      operationId: 'getReadiness',
      tags: ['Health'],
      summary: 'Check readiness',
      description: 'Returns 503 while the database is unavailable or not yet migrated.',
      security: [],
      response: { ...errorResponses(), 200: health, 503: health },
    },
    handler: async (_request, reply) => {
      const fine = await ready();
      return reply.status(fine ? 200 : 503).send({ status: fine ? 'ok' : 'unavailable' });
    },
  });
}
