import { routes } from '../proxy/routes.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, startTestEdge, type TestEdge, type TestKey } from '../support/edge.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { threadTimeMs } from '../support/thread-time.js';

/**
 * Requirement G17 allows one request 100 ms. Edge, proxy, node and callers share this process and take 28 ms alone, up to
 * twice that beside a busy neighbour. Scanned in one piece, the vectors take 90 ms and more.
 */
const LONGEST_STALL_MS = 75;
const TRIES = 10;
const AT_ONCE = 2;
const LOOK_MS = 2;

const vectors = (count: number, dimensions: number): number[][] =>
  Array.from({ length: count }, (_, i) =>
    Array.from({ length: dimensions }, (_value, j) => Math.fround(Math.sin(i * dimensions + j))),
  );
/** 12 MB, or twice that: to scan costs less than to convert. */
const embeddings = (count: number) => (): string =>
  JSON.stringify({
    object: 'list',
    data: vectors(count, 768).map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'm',
    usage: { prompt_tokens: 7, total_tokens: 7 },
  });
/** 12 MB. */
const logprobs = (): string => {
  const token = { token: 'a token', logprob: -1.234567, bytes: [97, 32, 116] };
  const content = Array.from({ length: 80 }, () => ({
    ...token,
    top_logprobs: Array.from({ length: 20 }, () => token),
  }));
  const message = { role: 'assistant', content: 'Hello.' };
  const choices = Array.from({ length: 128 }, (_, index) => ({ index, message, logprobs: { content } }));
  return JSON.stringify({
    object: 'chat.completion',
    model: 'm',
    choices,
    usage: { prompt_tokens: 7, completion_tokens: 9 },
  });
};
const SMALL = JSON.stringify({
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' } }],
  usage: { prompt_tokens: 7, completion_tokens: 9 },
});

/** Watches how long the event loop is blocked, without the time in which the process had no processor. */
function watchStalls(): { longestMs: () => number; stop: () => void } {
  let longest = 0;
  let last = performance.now();
  let used = threadTimeMs();
  const timer = setInterval(() => {
    const now = performance.now();
    const usedNow = threadTimeMs();
    longest = Math.max(longest, Math.min(now - last, usedNow - used));
    last = now;
    used = usedNow;
  }, LOOK_MS);
  return { longestMs: () => longest, stop: () => clearInterval(timer) };
}

describe('answers of 12 MB', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let proxy: TestProxy;
  let edge: TestEdge;
  let greedy: TestKey;
  let other: TestKey;
  let large = '';
  beforeAll(async () => {
    db = await createTestDatabase();
    // On a slow machine, small calls go on for over a minute.
    await db.pool.query(`update plans set requests_per_minute = 100000 where id = 'team'`);
    node = await startScriptedUpstream();
    // Encoded once: the node is in this process too, and encoding it for each call would block the event loop.
    node.answer(({ body }, response) => {
      const isLarge = body.includes('large');
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(isLarge ? largeBytes : SMALL);
    });
    const config = routes([
      { model: 'gateway/fast', id: 'chat', url: node.url },
      { model: 'gateway/embed', id: 'embed', url: node.url },
    ]);
    proxy = await startTestProxy(db, { config });
    edge = await startTestEdge(db, { upstreamUrl: proxy.url });
    const options = { virtualKey: proxy.masterKey, balance: '1000' };
    [greedy, other] = [await createTestKey(db, options), await createTestKey(db, options)];
  });
  afterAll(async () => {
    await edge?.close();
    await proxy?.close();
    await node?.close();
    await db?.close();
  });

  let largeBytes = Buffer.alloc(0);
  const post = async ({ key }: TestKey, path: string, body: object): Promise<number> => {
    const response = await fetch(`${edge.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    for await (const _chunk of response.body!);
    return response.status;
  };
  const small = () =>
    post(other, 'chat/completions', { model: 'gateway/fast', messages: [{ role: 'user', content: 'hi' }] });

  test.each([
    ['chat', logprobs, 'chat/completions', { model: 'gateway/fast', messages: [], user: 'large' }],
    [
      'embeddings as they are',
      embeddings(1_640),
      'embeddings',
      { model: 'gateway/embed', input: Array(1_640).fill('large'), encoding_format: 'float' },
    ],
    [
      'embeddings in another form',
      embeddings(820),
      'embeddings',
      { model: 'gateway/embed', input: Array(820).fill('large'), encoding_format: 'base64' },
    ],
  ])(
    `keep nobody waiting for more than ${LONGEST_STALL_MS} ms: %s`,
    async (_what, make, path, body) => {
      large = make();
      largeBytes = Buffer.from(large);
      expect(largeBytes.length).toBeGreaterThan(10 * 2 ** 20);
      const stalls: number[] = [];
      while (stalls.length < TRIES && !stalls.some((ms) => ms <= LONGEST_STALL_MS)) {
        const stall = watchStalls();
        let passing = true;
        let served = 0;
        const passed = Promise.all(Array.from({ length: AT_ONCE }, () => post(greedy, path, body))).finally(
          () => {
            passing = false;
          },
        );
        while (passing) {
          expect(await small()).toBe(200);
          if (passing) served++;
        }
        expect(await passed).toEqual(Array.from({ length: AT_ONCE }, () => 200));
        stall.stop();
        // Where others had hardly a turn, it does not count.
        stalls.push(served > 3 ? stall.longestMs() : Number.POSITIVE_INFINITY);
      }
      expect(Math.min(...stalls)).toBeLessThanOrEqual(LONGEST_STALL_MS);
    },
    60_000,
  );
});
