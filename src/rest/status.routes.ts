import { statusOutput } from '../services/leaderboard/status.outputs.js';
import type { Services } from '../services.js';
import { cacheable, NOT_MODIFIED } from './cacheable.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads } from './route-rules.js';

/** Availability of the models, for everyone. */
export function statusRoutes(app: RestApp, { status }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/status',
    config: reads({ auth: 'none' }),
    schema: {
      operationId: 'getStatus',
      tags: ['Status'],
      summary: 'Get the status',
      description:
        'Returns the success rate and latency of each model for the last 90 UTC days, and incidents, computed from the calls of all accounts. Updated after each hour.',
      security: [],
      response: { 200: statusOutput, 304: NOT_MODIFIED, ...errorResponses() },
    },
    handler: async (request, reply) => cacheable(request, reply, await status.status(request.context)),
  });
}
