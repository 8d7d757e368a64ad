import { estimateInput } from '../services/migration/migration.inputs.js';
import { estimateOutput } from '../services/migration/migration.outputs.js';
import { restRoutes } from './operations.js';
import { writes } from './route-rules.js';

/** The public cost estimate for another provider's usage. */
export const migrationRoutes = restRoutes('Migration', (route, { migration }) => {
  route('POST /api/migrate/estimate', writes({ auth: 'none', rate: 'read' }), {
    operationId: 'estimateMigration',
    summary: 'Estimate migration savings',
    description:
      "Compares the list price of another provider's model with ours for the tokens of 30 days, and returns sample code for a first call.",
    body: estimateInput,
    // It takes a body and changes nothing.
    returns: { 200: estimateOutput },
    run: async ({ body }, reply) => {
      reply.header('cache-control', 'public, max-age=3600');
      return migration.estimate(body);
    },
  });
});
