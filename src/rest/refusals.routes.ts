import { analyticsInput } from '../services/analytics/analytics.inputs.js';
import { keyParams } from '../services/keys/keys.inputs.js';
import { refusalHoursOutput, refusedCallsOutput } from '../services/refusals/refusals.outputs.js';
import type { Services } from '../services.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads } from './route-rules.js';

/** Calls that were refused, of the account and of a key. */
export function refusalsRoutes(app: RestApp, services: Services): void {
  const { refusals } = services;

  app.route({
    method: 'GET',
    url: '/api/usage/refused',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getRefusedCalls',
      tags: ['Billing'],
      summary: 'List rejected calls',
      description:
        "Lists calls that were rejected before they reached a model, by key, error code and model, and how to fix each. They are free and don't appear in the usage list. Counts may lag by a second.",
      querystring: analyticsInput,
      response: { 200: refusedCallsOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => refusals.ofAccount(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/refusals',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'listRefusals',
      tags: ['Billing'],
      summary: 'List rejected calls by hour',
      description:
        'Lists calls that were rejected before they reached a model, by hour, key, model and error code.',
      querystring: analyticsInput,
      response: { 200: refusalHoursOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => refusals.byHour(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/keys/:id/refused',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getKeyRefusedCalls',
      tags: ['Keys'],
      summary: 'List rejected calls of an API key',
      description: 'Lists calls with the key that were rejected before they reached a model.',
      params: keyParams,
      querystring: analyticsInput,
      response: { 200: refusedCallsOutput, ...errorResponses(401, 404, 422) },
    },
    handler: async (request) => refusals.ofKey(request.context, { ...request.query, id: request.params.id }),
  });
}
