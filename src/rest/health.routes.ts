import { z } from 'zod';
import { operations } from './operations.js';
import type { RestApp } from './rest-app.js';
import { reads } from './route-rules.js';

const health = z
  .object({
    status: z.enum(['ok', 'unavailable']).describe('`ok` if the process is healthy.'),
    degraded: z
      .boolean()
      .optional()
      .describe(
        "True while the edge serves calls, but can't record usage or doesn't receive changes. Absent otherwise.",
      ),
  })
  .meta({ id: 'Health', description: 'Health of this process.' });

/** \`ready\` returns whether the process can serve now. */
export function healthRoutes(app: RestApp, ready: () => Promise<boolean>): void {
  const route = operations(app, 'Health');

  route('GET /health', reads({ auth: 'none', rate: 'none' }), {
    operationId: 'getHealth',
    summary: 'Check liveness',
    description: 'Responds as long as the process that listens on the public port runs.',
    returns: { 200: health },
    run: () => ({ status: 'ok' as const }),
  });
  route('GET /health/ready', reads({ auth: 'none', rate: 'none' }), {
    operationId: 'getReadiness',
    summary: 'Check readiness',
    description:
      'Returns 503 while the process that listens on the public port takes no calls: at its start, while it stops, and after a minute without its database.',
    returns: { 200: health, 503: health },
    run: async (_request, reply) => {
      const fine = await ready();
      return reply.status(fine ? 200 : 503).send({ status: fine ? 'ok' : 'unavailable' });
    },
  });
}
