import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy, type TestProxyOptions } from '../support/proxy.js';
import {
  raw,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { type Node, routes, type TestTime, testTime } from './routes.js';
import { ask, post } from './support.js';

const FIRST_CHUNK = 'data: {"model":"x","choices":[]}\n\n';

/** The limits of a deployment beside those of the whole call. */
describe('a node that is silent', () => {
  let db: TestDatabase;
  let first: ScriptedUpstream;
  let second: ScriptedUpstream;
  let proxy: TestProxy;
  let time: TestTime;

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => {
    first = await startScriptedUpstream();
    second = await startScriptedUpstream();
    time = testTime();
  });
  afterEach(async () => {
    await proxy.close();
    await first.close();
    await second.close();
  });
  afterAll(() => db.close());

  const start = async (nodes: Node[], settings: object, options: TestProxyOptions) => {
    const config = routes(nodes, settings as Record<string, unknown>);
    proxy = await startTestProxy(db, { config, random: () => 0, ...options });
  };
  const call = (model: string, stream: boolean) =>
    post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, ask('x', { model, stream }));
  const failsOf = async (id: string) => {
    const headers = { authorization: `Bearer ${proxy.masterKey}` };
    const { data } = (await (await fetch(`${proxy.url}/v1/model/info`, { headers })).json()) as {
      data: { model_info: { id: string }; consecutive_failures: number }[];
    };
    return data.find(({ model_info }) => model_info.id === id)!.consecutive_failures;
  };
  /** Silent to callers, and fails a call of the proxy's own. */
  const silent: Script = (request, response) =>
    request.body.includes('"ping"') ? raw(500, '{}')(request, response) : undefined;
  const stalling: Script = (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST_CHUNK);

  test.each([
    ['a stream', true],
    ['a whole answer', false],
  ])("is cooled down even if its timeout is longer than the call's: %s", async (_what, stream) => {
    const fallbacks = [{ 'gateway/pro': ['gateway/fast'] }];
    const nodes = [
      { model: 'gateway/pro', id: 'silent', url: first.url, timeout: 120 },
      { model: 'gateway/fast', id: 'fast', url: second.url },
    ];
    first.answer(silent);
    await start(nodes, { fallbacks }, { timeoutMs: 300 });
    for (let i = 1; i <= 3; i++) {
      expect((await call('gateway/pro', stream)).status).toBe(504);
      await until(async () => (await failsOf('silent')) === i, { timeoutMs: 5_000 });
    }
    const answered = async () => (await call('gateway/pro', false)).json() as Promise<{ model?: string }>;
    await until(async () => (await answered()).model === 'gateway/fast', { timeoutMs: 5_000 });
  });

  test("between two chunks is cut off at the call's timeout, however long its own is", async () => {
    const node = { model: 'gateway/pro', id: 'stalling', url: first.url, streamTimeout: 120 };
    first.answer(stalling);
    await start([node], {}, { idleMs: 200 });
    await expect(call('gateway/pro', true).then((response) => response.text())).rejects.toThrow();
    await until(async () => (await failsOf('stalling')) === 1, { timeoutMs: 5_000 });
  });

  describe('during a call whose time other nodes have used up', () => {
    /** The first of two takes so much of the time, and fails. */
    const startBehind = async (usedMs: number, options: TestProxyOptions, url = second.url) => {
      first.answer((request, response) => {
        time.advance(usedMs);
        raw(500, '{}')(request, response);
      });
      const nodes = [
        { model: 'gateway/pro', id: 'first', url: first.url },
        { model: 'gateway/pro', id: 'second', url },
      ];
      await start(nodes, {}, { time, ...options });
    };

    test('is not counted as failed', async () => {
      second.answer(silent);
      await startBehind(1_800, { timeoutMs: 2_000 });
      expect((await call('gateway/pro', true)).status).toBe(504);
      expect(second.seen).toHaveLength(1);
      expect(await failsOf('second')).toBe(0);
    });

    test('is counted as failed if it began to answer', async () => {
      second.answer(stalling);
      await startBehind(1_000, { timeoutMs: 2_000, idleMs: 200 });
      await expect(call('gateway/pro', true).then((response) => response.text())).rejects.toThrow();
      await until(async () => (await failsOf('second')) === 1, { timeoutMs: 5_000 });
    });

    test('is counted as failed if it took no connection', async () => {
      // Nothing answers the handshake.
      const mute = createServer((socket) => socket.on('error', () => undefined).resume());
      mute.listen(0, '127.0.0.1');
      await once(mute, 'listening');
      const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}`;
      await startBehind(300_000, { timeoutMs: 600_000 }, url);
      await call('gateway/pro', true);
      expect(await failsOf('second')).toBe(1);
      mute.close();
    });
  });
});
