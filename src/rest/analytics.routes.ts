import { analyticsInput, usageSeriesInput } from '../services/analytics/analytics.inputs.js';
import { analyticsOutput, usageSeriesOutput } from '../services/analytics/analytics.outputs.js';
import { keyParams } from '../services/keys/keys.inputs.js';
import type { Services } from '../services.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads } from './route-rules.js';

/** What happened in the last days, of the account and of a key. */
export function analyticsRoutes(app: RestApp, services: Services): void {
  const { analytics } = services;

  app.route({
    method: 'GET',
    url: '/api/usage/analytics',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getAnalytics',
      tags: ['Billing'],
      summary: 'Get usage analytics',
      description:
        'Returns request counts, latencies, tokens and cost for all calls of the account, in total and per day.',
      querystring: analyticsInput,
      response: { 200: analyticsOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => analytics.ofAccount(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/usage/series',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getUsageSeries',
      tags: ['Billing'],
      summary: 'Get usage per hour or day',
      description:
        'Returns calls, tokens and cost per model and hour or day of a time zone. A UTC hour counts toward the day in which it begins.',
      querystring: usageSeriesInput,
      response: { 200: usageSeriesOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => analytics.series(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/keys/:id/analytics',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getKeyAnalytics',
      tags: ['Keys'],
      summary: 'Get usage analytics of an API key',
      description:
        'Returns request counts, latencies, tokens and cost for the calls of one API key, in total and per day.',
      params: keyParams,
      querystring: analyticsInput,
      response: { 200: analyticsOutput, ...errorResponses(401, 404, 422) },
    },
    handler: async (request) => analytics.ofKey(request.context, { ...request.query, id: request.params.id }),
  });
}
