import { keyParams } from '../services/keys/keys.inputs.js';
import { listRefusalsInput, refusalsInput } from '../services/refusals/refusals.inputs.js';
import { refusalHoursOutput, refusedCallsOutput } from '../services/refusals/refusals.outputs.js';
import { restRoutes } from './operations.js';
import { reads } from './route-rules.js';

/** Refused calls, of the account and of a key. */
export const refusalsRoutes = restRoutes('Billing', (route, { refusals }) => {
  route('GET /api/usage/refused', reads({ rate: 'heavy' }), {
    operationId: 'getRefusedCalls',
    summary: 'List rejected calls',
    description:
      "Lists calls that were rejected before they reached a model, by key, error code and model, and how to fix each. They are free and don't appear in the usage list. Counts may lag by a second.",
    query: refusalsInput,
    returns: { 200: refusedCallsOutput },
    run: ({ context, query }) => refusals.ofAccount(context, query),
  });

  route('GET /api/refusals', reads({ rate: 'heavy' }), {
    operationId: 'listRefusals',
    summary: 'List rejected calls by hour',
    description:
      'Lists calls that were rejected before they reached a model, by hour, key, model and error code, latest hour first.',
    query: listRefusalsInput,
    returns: { 200: refusalHoursOutput },
    run: ({ context, query }) => refusals.byHour(context, query),
  });

  route('GET /api/keys/:id/refused', reads({ rate: 'heavy' }), {
    tag: 'Keys',
    operationId: 'getKeyRefusedCalls',
    summary: 'List rejected calls of an API key',
    description: 'Lists calls with the key that were rejected before they reached a model.',
    params: keyParams,
    query: refusalsInput,
    returns: { 200: refusedCallsOutput },
    run: ({ context, params, query }) => refusals.ofKey(context, { ...query, id: params.id }),
  });
});
