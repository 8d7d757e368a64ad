import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { chat, raw, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { DEAD_URL, routes } from './routes.js';
import { ask, chunksOf, post } from './support.js';

/** Routing on the wall clock, with settings that are over quickly. */
const CALLERS = 16;
const CALLS = 400;
const SETTINGS = { num_retries: 2, retry_after: 0.1, allowed_fails: 3, cooldown_time: 0.5 };

describe('routing in real time', () => {
  let db: TestDatabase;
  let alive: ScriptedUpstream;
  let sick: ScriptedUpstream;
  let proxy: TestProxy | undefined;

  beforeAll(async () => {
    db = await createTestDatabase();
    alive = await startScriptedUpstream();
    sick = await startScriptedUpstream();
  });
  afterEach(async () => {
    await proxy?.close();
    alive.seen.length = 0;
    sick.seen.length = 0;
  });
  afterAll(async () => {
    await alive.close();
    await sick.close();
    await db.close();
  });

  const call = (model = 'gateway/fast', stream = false) =>
    post(`${proxy!.url}/v1/chat/completions`, proxy!.masterKey, ask('x', { model, stream }));

  /** What the sick node saw of callers; the proxy's own calls are none. */
  const asked = () => sick.seen.filter(({ body }) => !body.includes('"ping"'));

  /** Statuses of `CALLS` calls by callers that each have one in flight. */
  async function load(): Promise<Record<string, number>> {
    const statuses: Record<string, number> = {};
    let left = CALLS;
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (left-- > 0) {
          const response = await call();
          await response.arrayBuffer();
          statuses[response.status] = (statuses[response.status] ?? 0) + 1;
        }
      }),
    );
    return statuses;
  }

  test.each([
    ['one refuses connections, one answers 500', raw(500, '{}')],
    ['one refuses connections, one sends garbage', raw(200, '<html>')],
  ])('two dead nodes of three lose no call under load: %s', async (_what, script) => {
    sick.answer(script);
    const config = routes(
      [
        { model: 'gateway/fast', id: 'dead', url: DEAD_URL },
        { model: 'gateway/fast', id: 'sick', url: sick.url },
        { model: 'gateway/fast', id: 'alive', url: alive.url },
      ],
      SETTINGS,
    );
    proxy = await startTestProxy(db, { config });
    expect(await load()).toEqual({ 200: CALLS });
    expect(alive.seen).toHaveLength(CALLS);
    expect(sick.seen.length).toBeGreaterThanOrEqual(3);
    // Parked for most of the time, it sees what finds out that it is still dead.
    expect(sick.seen.length).toBeLessThan(CALLS / 3);
  });

  test.each([
    ['its own', { timeout: 0.3 }, {}],
    // The living node's too, and a late whole answer of a node that lives is its caller's: time enough on a busy machine.
    ['the file’s', {}, { timeout: 1.5 }],
  ])(
    'a node that doesn’t answer in its time (%s) costs that, and is then left alone',
    async (_what, own, all) => {
      sick.answer(() => undefined);
      const config = routes(
        [
          { model: 'gateway/fast', id: 'silent', url: sick.url, ...own },
          { model: 'gateway/fast', id: 'alive', url: alive.url },
        ],
        { ...SETTINGS, cooldown_time: 60, ...all },
      );
      proxy = await startTestProxy(db, { config });
      expect(await load()).toEqual({ 200: CALLS });
      const before = sick.seen.length;
      expect(await load()).toEqual({ 200: CALLS });
      expect(sick.seen.length).toBe(before);
    },
    20_000,
  );

  test('a model that is down is answered by its fallback, and by itself again once it is back', async () => {
    sick.answer(raw(503, '{}'));
    const config = routes(
      [
        { model: 'gateway/pro', id: 'pro', url: sick.url },
        { model: 'gateway/fast', id: 'fast', url: alive.url },
      ],
      { ...SETTINGS, fallbacks: [{ 'gateway/pro': ['gateway/fast'] }] },
    );
    proxy = await startTestProxy(db, { config });
    const served = async () => ((await (await call('gateway/pro')).json()) as { model: string }).model;
    const began = performance.now();
    expect(await served()).toBe('gateway/fast');
    // Two pauses before the third failure, none after it.
    const tookMs = performance.now() - began;
    expect(tookMs).toBeGreaterThan(195);
    expect(asked()).toHaveLength(3);
    sick.answer(chat());
    await until(async () => (await served()) === 'gateway/pro', { timeoutMs: 5_000 });
    expect(asked()).toHaveLength(4);
  });

  test('streams of a group with a dead node arrive whole', async () => {
    const config = routes(
      [
        { model: 'gateway/fast', id: 'dead', url: DEAD_URL },
        { model: 'gateway/fast', id: 'simulator', url: alive.url },
      ],
      SETTINGS,
    );
    alive.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let i = 0; i < 20; i++) response.write(`data: {"model":"x","choices":[${i}]}\n\n`);
      response.end('data: [DONE]\n\n');
    });
    proxy = await startTestProxy(db, { config });
    const texts = await Promise.all(
      Array.from({ length: 50 }, async () => (await call('gateway/fast', true)).text()),
    );
    for (const text of texts) {
      expect(chunksOf(text).map(({ model }) => model)).toEqual(Array(20).fill('gateway/fast'));
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    }
  });
});
