import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy, type TestProxyOptions } from '../support/proxy.js';
import {
  chat,
  DONE_EVENT,
  delta,
  raw,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { type Node, routes, testTime } from './routes.js';
import { ask, newKey, post } from './support.js';

const busy = (seconds: string) => raw(429, '{}', { 'retry-after': seconds });

describe('limits of providers', () => {
  let db: TestDatabase;
  let nodes: ScriptedUpstream[];
  let proxy: TestProxy;
  const time = testTime();

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => {
    nodes = [await startScriptedUpstream(), await startScriptedUpstream()];
    time.pauses.length = 0;
  });
  afterEach(async () => {
    await proxy.close();
    for (const node of nodes) await node.close();
  });
  afterAll(() => db.close());

  /** `params` of each node of `gateway/fast`; `random` 0 takes the first that is open. */
  async function start(
    params: Record<string, unknown>[],
    settings: Record<string, unknown> = {},
    more: Node[] = [],
    options: TestProxyOptions = {},
  ) {
    const list = params.map((one, n) => ({
      ...{ model: 'gateway/fast', id: `fast-${n}`, url: nodes[n]!.url },
      params: one,
    }));
    const config = routes([...list, ...more], settings);
    proxy = await startTestProxy(db, { config, timeoutMs: 600_000, time, random: () => 0, ...options });
  }
  const call = (body: unknown = ask('x')) => post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, body);
  const seen = () => nodes.map((node) => node.seen.length);
  const retryAfterOf = (response: Response) => [response.status, response.headers.get('retry-after')];

  test('a 429 closes its deployment for Retry-After, and others answer at once', async () => {
    await start([{}, {}]);
    nodes[0]!.answer(busy('30'));
    for (let n = 0; n < 5; n++) expect((await call()).status).toBe(200);
    expect(seen()).toEqual([1, 5]);
    time.advance(29_999);
    await call();
    expect(seen()[0]).toBe(1);
    time.advance(1);
    nodes[0]!.answer(chat());
    await call();
    expect(seen()[0]).toBe(2);
    expect(time.pauses).toEqual([]);
  });

  test('the only deployment gets no retry before, and callers get what is left of the time', async () => {
    await start([{}]);
    nodes[0]!.answer(busy('30'));
    expect(retryAfterOf(await call())).toEqual([503, '30']);
    time.advance(10_000);
    expect(retryAfterOf(await call())).toEqual([503, '20']);
    expect(seen()).toEqual([1, 0]);
    expect(time.pauses).toEqual([]);
    time.advance(20_000);
    nodes[0]!.answer(chat());
    expect((await call()).status).toBe(200);
  });

  test('it closes for at most cooldown_time, and never counts as a failure', async () => {
    await start([{}], { cooldown_time: 20, allowed_fails: 3 });
    nodes[0]!.answer(busy('3600'));
    for (let n = 1; n <= 5; n++) {
      expect(retryAfterOf(await call())).toEqual([503, '20']);
      expect(seen()[0]).toBe(n);
      time.advance(20_000);
    }
    nodes[0]!.answer(busy('1'));
    for (let n = 1; n <= 5; n++) {
      expect(retryAfterOf(await call())).toEqual([503, '1']);
      time.advance(1_000);
    }
    expect(seen()[0]).toBe(10);
    nodes[0]!.answer(chat());
    expect((await Promise.all([call(), call(), call()])).map(({ status }) => status)).toEqual([
      200, 200, 200,
    ]);
  });

  test('a caller who gets its refusal while others are open is asked to wait for at most cooldown_time', async () => {
    await start([{}, {}], { num_retries: 0 });
    nodes[0]!.answer(busy('3600'));
    expect(retryAfterOf(await call())).toEqual([503, '60']);
  });

  test('with a cooldown_time of 0 it is tried again after retry_after', async () => {
    await start([{}], { cooldown_time: 0 });
    nodes[0]!.answer(busy('30'));
    expect((await call()).status).toBe(503);
    expect(seen()).toEqual([3, 0]);
    expect(time.pauses).toEqual([5_000, 5_000]);
  });

  test('while all deployments are closed, a fallback answers', async () => {
    const other = { model: 'gateway/qwen-fast', id: 'qwen', url: nodes[1]!.url };
    await start([{}], { fallbacks: [{ 'gateway/fast': ['gateway/qwen-fast'] }] }, [other]);
    nodes[0]!.answer(busy('30'));
    for (let n = 0; n < 3; n++)
      expect(await (await call()).json()).toMatchObject({ model: 'gateway/qwen-fast' });
    expect(seen()).toEqual([1, 3]);
  });

  test('a probe that gets one with Retry-After shows that the node works', async () => {
    await start([{}]);
    nodes[0]!.answer((request, response) =>
      (request.body.includes('"ping"') ? busy('1') : raw(500, '{}'))(request, response),
    );
    for (let n = 0; n < 2; n++) expect((await call()).status).toBe(502);
    nodes[0]!.answer(chat());
    expect((await call()).status).toBe(200);
  });

  test('rpm: beyond it another deployment gets the calls, then 503 until a call is a minute old', async () => {
    await start([{ rpm: 3, weight: 1 }, { rpm: 2 }]);
    const calls = await Promise.all(Array.from({ length: 6 }, () => call()));
    expect(seen()).toEqual([3, 2]);
    const refused = calls.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(1);
    const [status, seconds] = retryAfterOf(refused[0]!);
    expect([status, Number(seconds) > 55 && Number(seconds) <= 61]).toEqual([503, true]);
    time.advance(61_000);
    expect((await call()).status).toBe(200);
  });

  test.each([
    ['whole', chat(), {}],
    [
      'streamed',
      stream([
        'data: {"model":"x","choices":[{"index":0,"delta":{"content":"\\"total_tokens\\": 9"},"finish_reason":"stop"}]}\n\n',
        'data: {"model":"x","choices":[],"usage":{"total_tokens":46}}\n\n',
        'data: [DONE]\n\n',
      ]),
      { stream: true },
    ],
  ])('tpm: counts the tokens that answers report (%s)', async (_what, script, rest) => {
    await start([{ tpm: 100 }]);
    nodes[0]!.answer(script);
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) {
      const response = await call(ask('x', rest));
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 200, 200, 503]);
    time.advance(61_000);
    expect((await call(ask('x', rest))).status).toBe(200);
  });

  test('tpm: without a report, a stream counts its events, and an image no more than models do', async () => {
    await start([{ tpm: 1_500 }]);
    nodes[0]!.answer(stream([...Array.from({ length: 40 }, () => delta('word ')), DONE_EVENT]));
    const url = `data:image/png;base64,${'A'.repeat(400_000)}`;
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) {
      const response = await call(ask('x', { stream: true, messages }));
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 200, 503]);
  });

  test('rpm or tpm of all deployments of a group are its weights, unless it has some', async () => {
    let draw = 0;
    await start([{ rpm: 3 }, { rpm: 1 }], {}, [], { random: () => (draw++ % 4) / 4 });
    for (let n = 0; n < 4; n++) await call();
    expect(seen()).toEqual([3, 1]);
  });

  test('max_parallel_requests: the rest wait, and accounts get turns', async () => {
    await start([{ max_parallel_requests: 2 }], {}, [], { time: undefined });
    const [loud, quiet] = [await newKey(proxy, 'loud'), await newKey(proxy, 'quiet')];
    const order: string[] = [];
    const held: (() => void)[] = [];
    let most = 0;
    nodes[0]!.answer((request, response) => {
      order.push((JSON.parse(request.body) as { messages: [{ content: string }] }).messages[0].content);
      held.push(() => void chat()(request, response));
      most = Math.max(most, held.length);
    });
    const say = (key: string, text: string) => post(`${proxy.url}/v1/chat/completions`, key, ask(text));
    const calls = Array.from({ length: 6 }, () => say(loud, 'loud'));
    await until(() => order.length === 2);
    calls.push(say(quiet, 'quiet'));
    for (let sent = 2; sent < calls.length; sent++) {
      held.shift()!();
      await until(() => order.length > sent);
    }
    for (const answer of held) answer();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
    expect(most).toBe(2);
    expect(order.indexOf('quiet')).toBeLessThan(5);
  });

  test('max_parallel_requests: who leaves while he waits loses only his place', async () => {
    await start([{ max_parallel_requests: 1 }], {}, [], { time: undefined });
    let answer: (() => void) | undefined;
    nodes[0]!.answer((request, response) => {
      answer = () => void chat()(request, response);
    });
    const first = call();
    await until(() => answer !== undefined);
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${proxy.masterKey}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(ask('x')), signal: leaving.signal };
    const left = fetch(`${proxy.url}/v1/chat/completions`, init);
    const last = call();
    leaving.abort();
    await expect(left).rejects.toThrow();
    answer!();
    expect((await first).status).toBe(200);
    await until(() => nodes[0]!.seen.length === 2);
    answer!();
    expect((await last).status).toBe(200);
  });

  test('max_parallel_requests: a call whose time ends while it waits gets 504', async () => {
    await start([{ max_parallel_requests: 1 }]);
    let answer: (() => void) | undefined;
    nodes[0]!.answer((request, response) => {
      answer = () => void chat()(request, response);
    });
    const first = call();
    await until(() => answer !== undefined);
    const late = await call();
    expect(late.status).toBe(504);
    expect(await late.json()).toMatchObject({ error: { code: 'upstream_timeout' } });
    answer!();
    expect((await first).status).toBe(200);
  });

  test('max_parallel_requests: a call goes elsewhere if its deployment is removed while it waits', async () => {
    await start([{ max_parallel_requests: 1 }], {}, [], { time: undefined });
    let answer: (() => void) | undefined;
    nodes[0]!.answer((request, response) => {
      answer = () => void chat()(request, response);
    });
    const first = call();
    await until(() => answer !== undefined);
    const waiting = call();
    // By then, the call before it waits.
    expect((await call(ask('x', { model: 'gateway/none' }))).status).toBe(400);
    proxy.reload(routes([{ model: 'gateway/fast', id: 'other', url: nodes[1]!.url }]));
    answer!();
    expect([(await first).status, (await waiting).status]).toEqual([200, 200]);
    expect(seen()).toEqual([1, 1]);
  });

  test('extra_headers and organization are sent with every call, and their values are masked', async () => {
    const extra = { 'X-Team': 'blue-whale-7', 'api-key': 'os.environ/NODE_KEY' };
    const params = { api_key: 'plain-key-1', organization: 'org-12345678', extra_headers: extra };
    await start([params], {}, [], { environment: { NODE_KEY: 'secret-key-of-node' } });
    await call();
    expect(nodes[0]!.seen[0]!.headers).toMatchObject({
      authorization: 'Bearer plain-key-1',
      'api-key': 'secret-key-of-node',
      'openai-organization': 'org-12345678',
      'x-team': 'blue-whale-7',
      'content-type': 'application/json',
    });
    nodes[0]!.answer(raw(400, '{"error":{"message":"no secret-key-of-node in org-12345678"}}'));
    const text = await (await call()).text();
    expect(text).not.toMatch(/secret-key|org-1234/);
  });

  test("Azure's deployments have a path, a version and a key of their own; /openai/v1 is called like any other", async () => {
    const azure = { model: 'azure/my-gpt', api_key: 'azure-key-1', api_version: '2024-10-21' };
    await start([{ ...azure, api_base: nodes[0]!.url }]);
    await call();
    expect(nodes[0]!.seen[0]!.url).toBe('/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21');
    expect(nodes[0]!.seen[0]!.headers).toMatchObject({ 'api-key': 'azure-key-1' });
    expect(nodes[0]!.seen[0]!.headers.authorization).toBeUndefined();
    await proxy.close();
    await start([{ ...azure, api_base: `${nodes[0]!.url}/openai/v1`, api_version: undefined }]);
    await call();
    expect(nodes[0]!.seen[1]!.url).toBe('/openai/v1/chat/completions');
    expect(JSON.parse(nodes[0]!.seen[1]!.body)).toMatchObject({ model: 'my-gpt' });
  });
});
