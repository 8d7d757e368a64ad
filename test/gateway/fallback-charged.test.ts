import { systemClock } from '../../src/lib/clock.js';
import { type Simulator, startSimulator } from '../../src/proxy/simulator/server.js';
import { DEAD_URL, routes } from '../proxy/routes.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, postChat, startTestEdge, type TestEdge, usageOf } from '../support/edge.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import {
  chat,
  chunkEvent,
  DONE_EVENT,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';

const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
const nameless = { model: undefined };
const saying = (content: string) => ({
  ...nameless,
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: USAGE,
});
const chunks = [
  { choices: [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: { content: 'lo.' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: USAGE },
].map((fields) => chunkEvent({ ...nameless, ...fields }));

/** A model whose deployments are all cooling down, over the whole way from edge to node. */
describe('a call that another model answered', () => {
  let db: TestDatabase;
  let simulator: Simulator;
  let node: ScriptedUpstream;
  let proxy: TestProxy;
  let edge: TestEdge;

  beforeAll(async () => {
    db = await createTestDatabase();
    simulator = await startSimulator({ clock: systemClock, models: [] });
    node = await startScriptedUpstream();
    const config = routes(
      [
        { model: 'gateway/qwen-pro', id: 'dead', url: DEAD_URL },
        { model: 'gateway/qwen-fast', id: 'alive', url: simulator.url.replace(/\/v1$/, '') },
        { model: 'gateway/deepseek-code', id: 'dead-too', url: DEAD_URL },
        { model: 'gateway/deepseek-reason', id: 'nameless', url: node.url },
      ],
      {
        num_retries: 0,
        allowed_fails: 1,
        fallbacks: [
          { 'gateway/qwen-pro': ['gateway/qwen-fast'] },
          { 'gateway/deepseek-code': ['gateway/deepseek-reason'] },
        ],
      },
    );
    proxy = await startTestProxy(db, { config });
    edge = await startTestEdge(db, { upstreamUrl: proxy.url });
  });
  afterAll(async () => {
    await edge?.close();
    await proxy?.close();
    await node?.close();
    await simulator?.close();
    await db?.close();
  });

  test.each([false, true])(
    'a call that another model answered is recorded and charged as served (stream: %s)',
    async (stream) => {
      const { accountId, key } = await createTestKey(db, { virtualKey: proxy.masterKey });
      const messages = [{ role: 'user', content: '[[sim ttft_ms=0 chunk_ms=0 tokens=1000/100]] x' }];
      const response = await postChat(edge.url, key, { model: 'gateway/qwen-pro', messages, stream });
      const text = await response.text();
      expect([response.status, text.includes('"model":"gateway/qwen-fast"')]).toEqual([200, true]);
      expect(text).not.toContain('internal-');
      await edge.settled();
      // 1,000 × $0.10 and 100 × $0.30 per million; qwen-pro would be five times that.
      expect(await usageOf(db, accountId)).toEqual([
        expect.objectContaining({
          requested_model: 'gateway/qwen-pro',
          served_model: 'gateway/qwen-fast',
          cost: '0.000130000000',
          status: 'success',
        }),
      ]);
    },
  );

  test.each<[string, boolean, Script]>([
    ['whole', false, chat(saying('Hello.'))],
    ['large', false, chat(saying('x'.repeat(300_000)))],
    ['streamed', true, stream([...chunks, DONE_EVENT])],
  ])('a call is charged as served even if the node names no model: %s', async (_what, asStream, answer) => {
    node.answer(answer);
    const { accountId, key } = await createTestKey(db, { virtualKey: proxy.masterKey });
    const body = { model: 'gateway/deepseek-code', stream: asStream };
    const response = await postChat(edge.url, key, body);
    const text = await response.text();
    const events = asStream ? text.split('\n\n').filter((event) => /^data: \{/.test(event)) : [text];
    const names = events.map((event) => JSON.parse(event.replace('data: ', '')).model);
    expect([response.status, new Set(names)]).toEqual([200, new Set(['gateway/deepseek-reason'])]);
    await edge.settled();
    // 1,000 × $0.30 and 100 × $0.90 per million; deepseek-code would be twice that.
    expect(await usageOf(db, accountId)).toEqual([
      expect.objectContaining({
        requested_model: 'gateway/deepseek-code',
        served_model: 'gateway/deepseek-reason',
        cost: '0.000390000000',
        status: 'success',
      }),
    ]);
  });
});
