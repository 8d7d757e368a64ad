import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fuzz } from './fuzz.js';
import { useProduct } from './suite.js';

/** The figure of G18 runs with FUZZ_REQUESTS=50000: it takes about two minutes on two busy cores. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 8_000);
const KEPT_REQUESTS = 1_500;
const { seeds } = JSON.parse(readFileSync('test/hostile/seeds.json', 'utf8')) as { seeds: number[] };
const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));

/** RELIABILITY.md G18: 0 crashes, 0 undeclared 5xx, 0 stack traces, 0 answers over 10 s. */
describe('whatever is sent to the public port', () => {
  const suite = useProduct();
  const run = async (from: number, requests: number) => {
    const credentials = { key: suite.caller.key, user: suite.user, admin: suite.admin };
    const secrets = [
      'sk-virtual-of-the-tests',
      suite.edge.config.upstreamMasterKey,
      suite.edge.config.encryptionKey,
    ];
    const result = await fuzz(suite.edge.url, { seed: from, requests, credentials, secrets });
    expect({ seed: from, faults: result.faults.slice(0, 3) }).toEqual({ seed: from, faults: [] });
    expect(result.answers).toBeGreaterThanOrEqual(requests);
    return result;
  };
  beforeAll(() => {
    suite.upstream.answer((request, response) => {
      const usage = '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}';
      if (request.url.endsWith('/embeddings')) {
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(`{"object":"list","model":"gateway/embed","data":[{"index":0,"embedding":[1]}],${usage}}`);
      } else if (request.headers.accept === 'text/event-stream') {
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(
            `data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: {"choices":[],${usage}}\n\ndata: [DONE]\n\n`,
          );
      } else {
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(`{"id":"x","object":"chat.completion","model":"gateway/fast","choices":[],${usage}}`);
      }
    });
  });
  afterAll(() => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test.each(seeds)(
    'is answered as declared: kept seed %i',
    async (kept) => {
      await run(kept, KEPT_REQUESTS);
    },
    120_000,
  );

  test(`is answered as declared: ${REQUESTS} requests, FUZZ_SEED=${seed}`, async () => {
    const { statuses } = await run(seed, REQUESTS);
    // What was sent reached every depth: parsers, guards, validation, the upstream.
    for (const status of [200, 400, 401, 403, 404, 415, 422]) expect([...statuses.keys()]).toContain(status);
    expect((await fetch(`${suite.edge.url}/health`)).status).toBe(200);
  }, 120_000);
});
