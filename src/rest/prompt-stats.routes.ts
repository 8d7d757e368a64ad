import { whatIfInput } from '../services/analytics/what-if.inputs.js';
import { whatIfOutput } from '../services/analytics/what-if.outputs.js';
import {
  compareVersionsInput,
  promptParams,
  promptVersionParams,
  versionStatsInput,
} from '../services/prompts/prompts.inputs.js';
import { versionComparisonOutput, versionStatsOutput } from '../services/prompts/prompts.outputs.js';
import { restRoutes } from './operations.js';
import { reads } from './route-rules.js';

/** Statistics of calls by prompt version, and their cost on another model. */
export const promptStatsRoutes = restRoutes('Prompts', (route, { versionStats, whatIf }) => {
  route('GET /api/prompts/:id/versions/:vid/stats', reads({ rate: 'heavy' }), {
    operationId: 'getPromptVersionStats',
    summary: 'Show call statistics of a version',
    description: 'Covers calls that sent the version ID in the header `X-Gateway-Prompt-Version`.',
    params: promptVersionParams,
    query: versionStatsInput,
    returns: { 200: versionStatsOutput },
    run: ({ context, params, query }) => versionStats.ofVersion(context, { ...query, ...params }),
  });

  route('GET /api/prompts/:id/compare', reads({ rate: 'heavy' }), {
    operationId: 'comparePromptVersions',
    summary: 'Compare call statistics of two versions',
    description:
      'Returns the statistics of both versions, and which one has the lower error rate: `inconclusive` if the 95% confidence intervals overlap.',
    params: promptParams,
    query: compareVersionsInput,
    returns: { 200: versionComparisonOutput },
    run: ({ context, params, query }) => versionStats.compare(context, { ...query, id: params.id }),
  });

  route('GET /api/analytics/what-if', reads({ rate: 'heavy' }), {
    tag: 'Billing',
    operationId: 'estimateWhatIf',
    summary: 'Price my calls on another model',
    description:
      'Prices the charged calls of the account, an API key or a prompt version at the rate of another model. Chat calls are compared with chat models, embeddings with embedding models.',
    query: whatIfInput,
    returns: { 200: whatIfOutput },
    errors: [404],
    run: ({ context, query }) => whatIf.estimate(context, query),
  });
});
