import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { chat, raw, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { type Node, routes, testTime } from './routes.js';
import { ask, post } from './support.js';

describe('another reading of the routing file', () => {
  let db: TestDatabase;
  let proxy: TestProxy;
  let first: ScriptedUpstream;
  let second: ScriptedUpstream;
  const time = testTime();

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => {
    first = await startScriptedUpstream();
    second = await startScriptedUpstream();
    proxy = await startTestProxy(db, { config: routes([node('one', first)]), time, timeoutMs: 600_000 });
  });
  afterEach(async () => {
    await proxy.close();
    await first.close();
    await second.close();
  });
  afterAll(() => db.close());

  const node = (id: string, { url }: { url: string }, more: Partial<Node> = {}): Node => ({
    model: 'gateway/fast',
    id,
    url,
    ...more,
  });
  const call = (model = 'gateway/fast') =>
    post(`${proxy.url}/v1/chat/completions`, proxy.masterKey, ask('x', { model }));
  const info = async () => {
    const headers = { authorization: `Bearer ${proxy.masterKey}` };
    const { data } = (await (await fetch(`${proxy.url}/v1/model/info`, { headers })).json()) as {
      data: { model_info: { id: string }; status: string; consecutive_failures: number }[];
    };
    return data.map(({ model_info, status, consecutive_failures: fails }) => [model_info.id, status, fails]);
  };

  test("doesn't move a call in flight, and routes the next one by the new file", async () => {
    let release!: () => void;
    first.answer(async (request, response) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      chat()(request, response);
    });
    const slow = call();
    await until(() => first.seen.length === 1);
    proxy.reload(routes([node('two', second)]));
    expect((await call()).status).toBe(200);
    expect([first.seen.length, second.seen.length]).toEqual([1, 1]);
    release();
    expect((await slow).status).toBe(200);
  });

  test('routes the next attempt of a failed call', async () => {
    first.answer((_request, response) => {
      proxy.reload(routes([node('two', second)]));
      response.destroy();
    });
    expect((await call()).status).toBe(200);
    expect(second.seen).toHaveLength(1);
  });

  test('keeps which deployments a call has already tried', async () => {
    const both = routes([node('one', first), node('two', second)]);
    await proxy.close();
    proxy = await startTestProxy(db, { config: both, time, timeoutMs: 600_000, random: () => 0 });
    first.answer((request, response) => {
      proxy.reload(both);
      raw(500, '{}')(request, response);
    });
    expect((await call()).status).toBe(200);
    expect([first.seen.length, second.seen.length]).toEqual([1, 1]);
  });

  test('adds and removes models', async () => {
    expect((await call('gateway/new')).status).toBe(400);
    proxy.reload(routes([node('two', second, { model: 'gateway/new' })]));
    expect((await call('gateway/new')).status).toBe(200);
    expect((await call()).status).toBe(400);
    const headers = { authorization: `Bearer ${proxy.masterKey}` };
    const { data } = (await (await fetch(`${proxy.url}/v1/models`, { headers })).json()) as {
      data: { id: string }[];
    };
    expect(data.map(({ id }) => id)).toEqual(['gateway/new']);
  });

  test('keeps the state of deployments that are still in the file, and of no others', async () => {
    first.answer(raw(500, '{}'));
    await call();
    expect(await info()).toEqual([['one', 'parked', 3]]);
    proxy.reload(routes([node('one', first, { weight: 5 }), node('two', second)]));
    expect(await info()).toEqual([
      ['one', 'parked', 3],
      ['two', 'serving', 0],
    ]);
    proxy.reload(routes([node('one', second)]));
    expect(await info()).toEqual([['one', 'serving', 0]]);
  });
});
