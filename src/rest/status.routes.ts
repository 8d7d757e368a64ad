import { statusOutput } from '../services/leaderboard/status.outputs.js';
import { cacheable, NOT_MODIFIED } from './cacheable.js';
import { restRoutes } from './operations.js';
import { reads } from './route-rules.js';

/** Public availability of the models. */
export const statusRoutes = restRoutes('Status', (route, { status }) => {
  route('GET /api/status', reads({ auth: 'none' }), {
    operationId: 'getStatus',
    summary: 'Get the status',
    description:
      'Returns the success rate and latency of each model for the last 90 UTC days, and incidents, computed from the calls of all accounts. Updated after each hour.',
    returns: { 200: statusOutput, 304: NOT_MODIFIED },
    run: async (request, reply) => cacheable(request, reply, await status.status(request.context)),
  });
});
