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

/** Statistics of calls by prompt version, and their cost on another model. */
export function promptStatsRoutes(app: RestApp, { versionStats, whatIf }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/prompts/:id/versions/:vid/stats',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getPromptVersionStats',
      tags: ['Prompts'],
      summary: 'Show call statistics of a version',
      description: 'Covers calls that sent the version ID in the header `X-Gateway-Prompt-Version`.',
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
      summary: 'Compare call statistics of two versions',
      description:
        'Returns the statistics of both versions, and which one has the lower error rate: `inconclusive` if the 95% confidence intervals overlap.',
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
        'Prices the charged calls of the account, an API key or a prompt version at the rate of another model. Chat calls are compared with chat models, embeddings with embedding models.',
      querystring: whatIfInput,
      response: { 200: whatIfOutput, ...errorResponses(401, 404, 422) },
    },
    handler: async (request) => whatIf.estimate(request.context, request.query),
  });
}
