import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fuzz } from './fuzz.js';
import { useProduct } from './suite.js';

const REQUESTS = 50_000;
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
    // Answers whatever came; the rest of the script is the edge's affair.
    suite.upstream.answer((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(
          '{"id":"x","object":"chat.completion","model":"gateway/fast","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
        );
    });
  });
  afterAll(() => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test.each(seeds)('is answered as declared: kept seed %i', async (kept) => {
    await run(kept, KEPT_REQUESTS);
  });

  test(`is answered as declared: ${REQUESTS} requests, FUZZ_SEED=${seed}`, async () => {
    const { statuses } = await run(seed, REQUESTS);
    // What was sent reached every depth: parsers, guards, validation, the upstream.
    for (const status of [200, 400, 401, 403, 404, 413, 415, 422])
      expect([...statuses.keys()]).toContain(status);
    expect((await fetch(`${suite.edge.url}/health`)).status).toBe(200);
    process.stderr.write(JSON.stringify([...statuses]));
  }, 120_000);
});
