/** All suites, in the order of their table. */
const openai = (major) => ({
  name: `openai${major}`,
  package: `openai${major}`,
  what:
    major === 4
      ? "OpenAI's SDK: models, chat, streams, several tool calls at once, JSON mode and schema, log probabilities, seed, embeddings, responses, errors, retries, abort, ten odd answers of nodes"
      : `the same with version ${major}`,
  load: async () => {
    const { openaiSuite } = await import('./suites/openai.mjs');
    return openaiSuite(major, await import(`openai${major}`));
  },
});

export const SUITES = [
  {
    name: 'graphql-http',
    package: 'graphql-http',
    what: 'every server audit of the GraphQL-over-HTTP specification, at `/graphql`',
    load: () => import('./suites/graphql-http.mjs'),
  },
  {
    name: 'graphql-ws',
    package: 'graphql-ws',
    what: 'its client and the messages of its protocol, at `/graphql`: acknowledgement, time-out, credentials, duplicate ids, ping, complete',
    load: () => import('./suites/graphql-ws.mjs'),
  },
  // `npm test` has the major version that the product's own packages pin, and the AI SDK.
  ...[4, 5, 6].map(openai),
  {
    name: 'langchain',
    package: '@langchain/openai',
    what: 'chat, streams, batches, tools, structured output by all three methods, embeddings, errors, odd answers; each call billed as its usage says',
    load: () => import('./suites/langchain.mjs'),
  },
  {
    name: 'llamaindex',
    package: '@llamaindex/openai',
    what: 'chat, streams, tools, embeddings in batches, errors, odd answers',
    load: () => import('./suites/llamaindex.mjs'),
  },
  {
    name: 'mastra',
    package: '@mastra/core',
    what: 'an agent: text, streams, a tool that it runs, structured output, errors, odd answers',
    load: () => import('./suites/mastra.mjs'),
  },
  {
    name: 'promptfoo',
    package: 'promptfoo',
    what: 'an evaluation with its OpenAI providers for chat and embeddings',
    load: () => import('./suites/promptfoo.mjs'),
  },
  {
    name: 'standardwebhooks',
    package: 'standardwebhooks',
    what: 'the signature of a delivered webhook; altered, stale and foreign ones are refused',
    load: () => import('./suites/standardwebhooks.mjs'),
  },
  {
    name: 'svix',
    package: 'svix',
    what: 'the same with Svix’s library',
    load: () => import('./suites/svix.mjs'),
  },
  {
    name: 'redocly',
    package: '@redocly/openapi-core',
    what: '`/openapi.json` by its recommended rules, warnings included',
    load: () => import('./suites/redocly.mjs'),
  },
  {
    name: 'spectral',
    package: '@stoplight/spectral-core',
    what: '`/openapi.json` by its OpenAPI rules, warnings included',
    load: () => import('./suites/spectral.mjs'),
  },
  {
    name: 'lighthouse',
    package: 'lighthouse',
    what: 'accessibility, best practices and SEO of every public page: each must score 100',
    load: () => import('./suites/lighthouse.mjs'),
  },
  {
    name: 'pa11y',
    package: 'pa11y',
    what: 'every public page by WCAG 2 AA',
    load: () => import('./suites/pa11y.mjs'),
  },
  {
    name: 'html-validate',
    package: 'html-validate',
    what: 'every public page and every mail by its recommended rules',
    load: () => import('./suites/html-validate.mjs'),
  },
  {
    name: 'promtool',
    what: '`check metrics` on `/metrics` of each process, and `check rules` on `deploy/alerts.yml`',
    load: () => import('./suites/promtool.mjs'),
  },
];
