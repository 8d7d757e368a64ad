import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { AT_ONCE_BYTES } from '../../src/lib/json-reader.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy, type TestProxyOptions } from '../support/proxy.js';
import {
  chat,
  embeddings,
  raw,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { DEAD_URL, type Node, routes, type TestTime, testTime } from './routes.js';
import { ask, post } from './support.js';

/** An answer or chunk with a choice of which a member, `error`, says that it failed. */
const choiceError = (name: string, content = 'Hel'): string =>
  `{"model":"x","choices":[{"message":{"content":"${content}"},"${name}":{"message":"x","code":500}}]}`;

/** The default routing settings, on a clock that only advances while the proxy waits. */
describe('a call that fails', () => {
  let db: TestDatabase;
  let nodes: ScriptedUpstream[];
  let time: TestTime;
  let proxy: TestProxy;
  let lines: Record<string, unknown>[];

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => {
    nodes = [await startScriptedUpstream(), await startScriptedUpstream(), await startScriptedUpstream()];
    time = testTime();
    lines = [];
  });
  afterEach(async () => {
    await proxy.close();
    for (const node of nodes) await node.close();
  });
  afterAll(() => db.close());

  const log = () =>
    pino(
      { level: 'info' },
      {
        write(line: string) {
          const entry = JSON.parse(line) as (typeof lines)[0];
          if ('deployment' in entry) lines.push(entry);
        },
      },
    );

  /** `[0, 1]`: a group of the first two nodes. `random` 0 always takes the first that is left. */
  async function start(
    groups: Record<string, number[]>,
    settings: Record<string, unknown> = {},
    options: TestProxyOptions = {},
  ) {
    const list: Node[] = Object.entries(groups).flatMap(([model, members]) =>
      members.map((member) => ({
        model,
        id: `${model}-${member}`,
        url: nodes[member]?.url ?? DEAD_URL,
      })),
    );
    const config = routes(list, settings);
    const moved = { time, random: () => 0, log: log() as never };
    proxy = await startTestProxy(db, { config, timeoutMs: 600_000, ...moved, ...options });
  }
  const call = (body: unknown = ask('x')) => post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, body);
  /** Calls of callers; the proxy's own are none. */
  const seen = () => nodes.map((node) => node.seen.filter(({ body }) => !body.includes('"ping"')).length);
  const failsOf = async (id: string) => {
    const headers = { authorization: `Bearer ${proxy.masterKey}` };
    const { data } = (await (await fetch(`${proxy.url}/v1/model/info`, { headers })).json()) as {
      data: { model_info: { id: string }; consecutive_failures: number }[];
    };
    return data.find(({ model_info }) => model_info.id === id)?.consecutive_failures;
  };
  const codeOf = async (response: Response) =>
    ((await response.json()) as { error: { code: string } }).error.code;

  test.each([
    ['a 500', raw(500, '{}')],
    ['a 401 of its own key', raw(401, '{}')],
    ['a 404 of a model that it lacks', raw(404, '{}')],
    ['a 429', raw(429, '{}')],
    ['garbage', raw(200, 'what')],
    ['an error with 200', raw(200, '{"error":{"message":"x","code":500}}')],
    ['an error whose name is escaped', raw(200, '{"err\\u006fr":{"message":"x","code":500}}')],
    ['a choice that failed', raw(200, choiceError('error'))],
    ['a choice that failed, whose name for it is escaped', raw(200, choiceError('err\\u006fr'))],
    ['a choice that failed in a large answer', raw(200, choiceError('error', 'x'.repeat(AT_ONCE_BYTES)))],
    ['a reset', (_request: unknown, response: ServerResponse) => void response.socket!.resetAndDestroy()],
  ])('with %s is tried at once on another healthy deployment', async (_what, script) => {
    await start({ 'gateway/fast': [0, 1] });
    nodes[0]!.answer(script);
    const response = await call();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ model: 'gateway/fast' });
    expect(seen()).toEqual([1, 1, 0]);
    expect(time.pauses).toEqual([]);
  });

  test.each([
    ['an error as its first event', stream(['data: {"error":{"message":"x","code":"500"}}\n\n'])],
    ['a choice that failed in its first event', stream([`data: ${choiceError('error')}\n\n`])],
    ['no event', stream([])],
    ['an event that is no JSON', stream(['data: what\n\n'])],
    ['a whole answer', chat()],
    ['a large whole answer', chat({ id: 'x'.repeat(AT_ONCE_BYTES) })],
  ])('as a stream with %s is tried on another', async (_what, script) => {
    await start({ 'gateway/fast': [0, 1] });
    nodes[0]!.answer(script);
    nodes[1]!.answer(stream(['data: {"model":"internal"}\n\n', 'data: [DONE]\n\n']));
    const response = await call(ask('x', { stream: true }));
    expect(await response.text()).toBe('data: {"model":"gateway/fast"}\n\ndata: [DONE]\n\n');
    expect(seen()).toEqual([1, 1, 0]);
    expect(await failsOf('gateway/fast-0')).toBe(1);
  });

  test("as a stream with a refusal in a whole answer is the caller's fault", async () => {
    await start({ 'gateway/fast': [0, 1] });
    nodes[0]!.answer(raw(200, '{"error":{"message":"n","code":400}}'));
    expect((await call(ask('x', { stream: true }))).status).toBe(400);
    expect(seen()).toEqual([1, 0, 0]);
  });

  test('is not one whose answer only mentions an error', async () => {
    await start({ 'gateway/fast': [0, 1] });
    const message = { role: 'assistant', content: '{"error":"\u0001"}' };
    for (const id of ['a', 'x'.repeat(AT_ONCE_BYTES)]) {
      nodes[0]!.answer(chat({ id, choices: [{ index: 0, message, finish_reason: 'stop', error: null }] }));
      expect((await call()).status).toBe(200);
    }
    expect(seen()).toEqual([2, 0, 0]);
  });

  test('is not one that requests embeddings as a stream and gets them whole', async () => {
    await start({ 'gateway/fast': [0, 1] });
    nodes[0]!.answer(embeddings());
    const body = { model: 'gateway/fast', input: 'x', stream: true };
    expect((await post(`${proxy.url}/v1/embeddings`, proxy.masterKey, body)).status).toBe(200);
    expect(seen()).toEqual([1, 0, 0]);
  });

  test('after a byte has left is never tried again', async () => {
    await start({ 'gateway/fast': [0, 1] });
    nodes[0]!.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"model":"internal"}\n\n', () => setTimeout(() => response.destroy(), 20));
    });
    const response = await call(ask('x', { stream: true }));
    await expect(response.text()).rejects.toThrow();
    expect(seen()).toEqual([1, 0, 0]);
  });

  test('without another deployment is tried again after retry_after, num_retries times', async () => {
    await start({ 'gateway/fast': [0] });
    nodes[0]!.answer(raw(500, '{}'));
    const response = await call();
    expect([response.status, await codeOf(response)]).toEqual([502, 'upstream_error']);
    expect(seen()).toEqual([3, 0, 0]);
    expect(time.pauses).toEqual([5_000, 5_000]);
  });

  test('that the other deployment has failed as well is tried again after the pause', async () => {
    await start({ 'gateway/fast': [0, 1] });
    for (const node of nodes) node.answer(raw(500, '{}'));
    expect((await call()).status).toBe(502);
    expect(seen()).toEqual([2, 1, 0]);
    expect(time.pauses).toEqual([5_000]);
  });

  test.each([400, 422, 413])(
    'by the fault of its caller (%i) is tried once, and counts for nothing',
    async (status) => {
      await start({ 'gateway/fast': [0, 1] });
      nodes[0]!.answer(raw(status, '{"error":{"message":"n"}}'));
      for (let i = 0; i < 5; i++) expect((await call()).status).toBe(status === 413 ? 502 : status);
      expect(seen()).toEqual([5, 0, 0]);
      expect(lines).toEqual([]);
    },
  );

  test("isn't tried beyond the caller's timeout", async () => {
    await start({ 'gateway/fast': [0] }, {}, { timeoutMs: 9_000 });
    nodes[0]!.answer(raw(500, '{}'));
    expect((await call()).status).toBe(502);
    expect(time.pauses).toEqual([5_000]);
    expect(seen()).toEqual([2, 0, 0]);
  });

  test('for the third time in a row cools down its deployment for cooldown_time; logged once, like its return', async () => {
    await start({ 'gateway/fast': [0, 1] });
    nodes[0]!.answer(raw(500, '{}'));
    for (let i = 0; i < 10; i++) expect((await call()).status).toBe(200);
    expect(seen()).toEqual([3, 10, 0]);
    expect(lines).toEqual([
      expect.objectContaining({
        msg: 'a deployment is parked',
        deployment: 'gateway/fast-0',
        model: 'gateway/fast',
        reason: 'status_500',
        cooldownMs: 60_000,
        left: 1,
      }),
    ]);
    time.advance(59_999);
    await call();
    expect(seen()[0]).toBe(3);
    // Its time is over, and it is still dead: one call finds out.
    time.advance(1);
    for (let i = 0; i < 3; i++) expect((await call()).status).toBe(200);
    expect(seen()[0]).toBe(4);
    expect(lines).toHaveLength(1);
    time.advance(60_000);
    nodes[0]!.answer(chat());
    for (let i = 0; i < 3; i++) await call();
    expect(seen()[0]).toBe(7);
    expect(lines.slice(1)).toEqual([
      expect.objectContaining({ msg: 'a deployment serves again', deployment: 'gateway/fast-0' }),
    ]);
    expect(JSON.stringify(lines)).not.toContain('127.0.0.1');
  });

  test('ends in its pause when the caller leaves', async () => {
    let ended = false;
    const waiting = {
      now: time.now,
      pause: (_ms: number, signal: AbortSignal) =>
        new Promise<void>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            ended = true;
            reject(signal.reason as Error);
          });
        }),
    };
    const registry = new Registry();
    await start({ 'gateway/fast': [0] }, {}, { time: waiting, registry });
    nodes[0]!.answer(raw(500, '{}'));
    const leaving = new AbortController();
    const left = fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${proxy.masterKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('x')),
      signal: leaving.signal,
    });
    await until(() => nodes[0]!.seen.length === 1);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await until(() => ended);
    await until(async () => (await registry.metrics()).includes('outcome="client_gone"'));
    expect(seen()).toEqual([1, 0, 0]);
  });

  test('resets the count after a success', async () => {
    await start({ 'gateway/fast': [0, 1] });
    for (let round = 0; round < 3; round++) {
      nodes[0]!.answer(raw(500, '{}'));
      await call();
      await call();
      nodes[0]!.answer(chat());
      await call();
    }
    expect(seen()).toEqual([9, 6, 0]);
    expect(lines).toEqual([]);
  });

  test("with a stream that breaks later counts against the deployment, but a caller who leaves doesn't", async () => {
    await start({ 'gateway/fast': [0, 1] });
    nodes[0]!.answer(stream(['data: {"model":"x"}\n\n']));
    for (let i = 0; i < 3; i++) await (await call(ask('x', { stream: true }))).text();
    // The answer is over before it is decided what follows from it.
    await until(() => lines.length > 0);
    expect(lines).toEqual([expect.objectContaining({ reason: 'stream_cut' })]);

    lines.length = 0;
    time.advance(60_000);
    nodes[0]!.answer(() => undefined);
    for (let i = 0; i < 4; i++) {
      const leaving = new AbortController();
      const left = fetch(`${proxy.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${proxy.masterKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(ask('x')),
        signal: leaving.signal,
      });
      await until(() => seen()[0] === 4 + i);
      leaving.abort();
      await expect(left).rejects.toThrow();
      await until(() => nodes[0]!.seen.at(-1)!.aborted);
    }
    expect(seen()).toEqual([7, 0, 0]);
    expect(lines).toEqual([]);
  });

  describe('while every deployment of its group is cooling down', () => {
    const park = async (model: string, node: number) => {
      nodes[node]!.answer(raw(500, '{}'));
      await call({ ...ask('x'), model });
      expect(lines.at(-1)).toMatchObject({ msg: 'a deployment is parked', left: 0 });
      nodes[node]!.answer(chat());
    };
    const fallbacks = [{ 'gateway/pro': ['gateway/fast'] }];
    const chain = [...fallbacks, { 'gateway/code': ['gateway/pro'] }];

    test("is answered by the fallback, under the fallback's name", async () => {
      await start({ 'gateway/pro': [0], 'gateway/fast': [1] }, { fallbacks });
      await park('gateway/pro', 0);
      const before = seen();
      const response = await call({ ...ask('x'), model: 'gateway/pro' });
      expect(await response.json()).toMatchObject({ model: 'gateway/fast' });
      const asStream = ask('x', { stream: true, model: 'gateway/pro' });
      nodes[1]!.answer(stream(['data: {"model":"internal"}\n\n', 'data: [DONE]\n\n']));
      expect(await (await call(asStream)).text()).toContain('"model":"gateway/fast"');
      expect(seen()).toEqual([before[0], before[1]! + 2, 0]);
      expect(JSON.parse(nodes[1]!.seen.at(-1)!.body).model).toBe('internal-gateway/fast-1');
      time.advance(60_000);
      const back = await call({ ...ask('x'), model: 'gateway/pro' });
      expect(await back.json()).toMatchObject({ model: 'gateway/pro' });
    });

    test('is answered by the fallback in the call that cooled down the last deployment', async () => {
      await start({ 'gateway/pro': [0], 'gateway/fast': [1] }, { fallbacks });
      nodes[0]!.answer(raw(500, '{}'));
      const response = await call({ ...ask('x'), model: 'gateway/pro' });
      expect(await response.json()).toMatchObject({ model: 'gateway/fast' });
      expect(seen()).toEqual([3, 1, 0]);
    });

    test('uses one fallback and no further', async () => {
      await start({ 'gateway/code': [0], 'gateway/pro': [1], 'gateway/fast': [2] }, { fallbacks: chain });
      await park('gateway/code', 0);
      // Its stand-in dies in turn; that one's own stand-in lives.
      nodes[1]!.answer(raw(500, '{}'));
      await call({ ...ask('x'), model: 'gateway/pro' });
      const before = seen();
      const response = await call({ ...ask('x'), model: 'gateway/code' });
      expect([response.status, await codeOf(response)]).toEqual([503, 'upstream_unavailable']);
      expect(seen()).toEqual(before);
    });

    test('without a fallback gets 503 with Retry-After', async () => {
      await start({ 'gateway/fast': [0] });
      await park('gateway/fast', 0);
      time.advance(17_600);
      const response = await call();
      expect([response.status, await codeOf(response)]).toEqual([503, 'upstream_unavailable']);
      expect(response.headers.get('retry-after')).toBe('43');
      expect(seen()).toEqual([3, 0, 0]);
    });

    test("isn't answered by the fallback while a deployment merely fails", async () => {
      await start({ 'gateway/pro': [0, 1], 'gateway/fast': [2] }, { fallbacks });
      for (const node of nodes.slice(0, 2)) node.answer(raw(500, '{}'));
      expect((await call({ ...ask('x'), model: 'gateway/pro' })).status).toBe(502);
      expect(seen()).toEqual([2, 1, 0]);
    });
  });
});
