import { whatIfInput } from '../services/analytics/what-if.inputs.js';
import { whatIfOutput } from '../services/analytics/what-if.outputs.js';
import {
  compareVersionsInput,
  promptParams,
  promptVersionParams,
  versionStatsInput,
} from '../services/prompts/prompts.inputs.js';
import { versionComparisonOutput, versionStatsOutput } from '../services/prompts/prompts.outputs.js';
import type { Services } from '../services.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads } from './route-rules.js';

/** What calls say about versions of prompts, and what they would have cost on another model. */
export function promptStatsRoutes(app: RestApp, { versionStats, whatIf }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/prompts/:id/versions/:vid/stats',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getPromptVersionStats',
      tags: ['Prompts'],
      summary: 'Analyse the calls of a version',
      description: 'Calls that named the version by the header `X-Gateway-Prompt-Version`.',
      params: promptVersionParams,
      querystring: versionStatsInput,
      response: { 200: versionStatsOutput, ...errorResponses(401, 404, 422) },
    },
    handler: async (request) =>
      versionStats.ofVersion(request.context, { ...request.query, ...request.params }),
  });

  app.route({
    method: 'GET',
    url: '/api/prompts/:id/compare',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'comparePromptVersions',
      tags: ['Prompts'],
      summary: 'Compare the calls of two versions',
      description:
        'Side by side, and which fails less often: inconclusive while the 95 % intervals of their error rates overlap.',
      params: promptParams,
      querystring: compareVersionsInput,
      response: { 200: versionComparisonOutput, ...errorResponses(401, 404, 422) },
    },
    handler: async (request) =>
      versionStats.compare(request.context, { ...request.query, id: request.params.id }),
  });

  app.route({
    method: 'GET',
    url: '/api/analytics/what-if',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'estimateWhatIf',
      tags: ['Billing'],
      summary: 'Price my calls on another model',
      description:
        'The charged calls of the account, of a key or of a version of a prompt, at the price of another model. Chat calls are priced on chat models and embeddings on embedding models.',
      querystring: whatIfInput,
      response: { 200: whatIfOutput, ...errorResponses(401, 404, 422) },
    },
    handler: async (request) => whatIf.estimate(request.context, request.query),
  });
}
