import { estimateInput } from '../services/migration/migration.inputs.js';
import { estimateOutput } from '../services/migration/migration.outputs.js';
import type { Services } from '../services.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { writes } from './route-rules.js';

/** What another provider's usage would cost here, for everybody. */
export function migrationRoutes(app: RestApp, { migration }: Services): void {
  app.route({
    method: 'POST',
    url: '/api/migrate/estimate',
    // It takes a body and changes nothing.
    config: writes({ auth: 'none', rate: 'read' }),
    schema: {
      operationId: 'estimateMigration',
      tags: ['Migration'],
      summary: 'Estimate migration savings',
      description:
        "Compares the list price of another provider's model with ours for the tokens of 30 days, and returns sample code for a first call.",
      security: [],
      body: estimateInput,
      response: { 200: estimateOutput, ...errorResponses(415, 422) },
    },
    handler: async (request, reply) => {
      reply.header('cache-control', 'public, max-age=3600');
      return migration.estimate(request.body);
    },
  });
}
