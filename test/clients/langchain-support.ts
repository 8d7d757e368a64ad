import { ChatOpenAI, type ChatOpenAIFields, OpenAIEmbeddings } from '@langchain/openai';
import type { ClientSuite } from './support.js';

/** The chat model as its documentation makes it for a compatible server. */
export const chatOf = (
  suite: ClientSuite,
  fields: ChatOpenAIFields = {},
  fetchWith?: typeof fetch,
): ChatOpenAI =>
  new ChatOpenAI({
    model: 'gateway/qwen-pro',
    apiKey: suite.user.key,
    maxRetries: 0,
    ...fields,
    configuration: { baseURL: suite.baseUrl, ...(fetchWith && { fetch: fetchWith }) },
  });

export const embeddingsOf = (suite: ClientSuite, fetchWith?: typeof fetch): OpenAIEmbeddings =>
  new OpenAIEmbeddings({
    model: 'gateway/embed',
    apiKey: suite.user.key,
    batchSize: 2,
    maxRetries: 0,
    configuration: { baseURL: suite.baseUrl, ...(fetchWith && { fetch: fetchWith }) },
  });
