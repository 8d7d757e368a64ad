import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ClientSuite } from './support.js';

/** The provider as its documentation makes it for a gateway. */
export const providerOf = (suite: ClientSuite, apiKey = suite.user.key, fetchWith?: typeof fetch) =>
  createOpenAICompatible({
    name: 'gateway',
    baseURL: suite.baseUrl,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...(fetchWith && { fetch: fetchWith }),
  });
