import { analyticsInput, usageSeriesInput } from '../services/analytics/analytics.inputs.js';
import { analyticsOutput, usageSeriesOutput } from '../services/analytics/analytics.outputs.js';
import { keyParams } from '../services/keys/keys.inputs.js';
import { restRoutes } from './operations.js';
import { reads } from './route-rules.js';

/** Usage of the last days, of the account and of a key. */
export const analyticsRoutes = restRoutes('Billing', (route, { analytics }) => {
  route('GET /api/usage/analytics', reads({ rate: 'heavy' }), {
    operationId: 'getAnalytics',
    summary: 'Get usage analytics',
    description:
      'Returns request counts, latencies, tokens and cost for all calls of the account, in total and per day.',
    query: analyticsInput,
    returns: { 200: analyticsOutput },
    run: ({ context, query }) => analytics.ofAccount(context, query),
  });

  route('GET /api/usage/series', reads({ rate: 'heavy' }), {
    operationId: 'getUsageSeries',
    summary: 'Get usage per hour or day',
    description:
      'Returns calls, tokens and cost per model and hour or day of a time zone. A UTC hour counts toward the day in which it begins.',
    query: usageSeriesInput,
    returns: { 200: usageSeriesOutput },
    run: ({ context, query }) => analytics.series(context, query),
  });

  route('GET /api/keys/:id/analytics', reads({ rate: 'heavy' }), {
    tag: 'Keys',
    operationId: 'getKeyAnalytics',
    summary: 'Get usage analytics of an API key',
    description:
      'Returns request counts, latencies, tokens and cost for the calls of one API key, in total and per day.',
    params: keyParams,
    query: analyticsInput,
    returns: { 200: analyticsOutput },
    run: ({ context, params, query }) => analytics.ofKey(context, { ...query, id: params.id }),
  });
});
