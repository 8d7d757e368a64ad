import { outlookOutput } from '../services/billing/outlook.outputs.js';
import type { Services } from '../services.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads } from './route-rules.js';

/** How far the balance reaches. */
export function outlookRoutes(app: RestApp, { outlook }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/billing/outlook',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getBalanceOutlook',
      tags: ['Billing'],
      summary: 'Get the balance outlook',
      description:
        'Returns the balance, the recent average cost per day, and how many days the balance lasts at that rate.',
      response: { 200: outlookOutput, ...errorResponses(401) },
    },
    handler: async (request) => outlook.outlook(request.context),
  });
}
