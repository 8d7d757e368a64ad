import { systemClock } from '../../src/lib/clock.js';
import { type Simulator, startSimulator } from '../../src/proxy/simulator/server.js';
import { DEAD_URL, routes } from '../proxy/routes.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, postChat, startTestEdge, type TestEdge, usageOf } from '../support/edge.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';

/** A model whose deployments are all parked, over the whole way from edge to node. */
describe('a call that another model answered', () => {
  let db: TestDatabase;
  let simulator: Simulator;
  let proxy: TestProxy;
  let edge: TestEdge;

  beforeAll(async () => {
    db = await createTestDatabase();
    simulator = await startSimulator({ clock: systemClock, models: [] });
    const config = routes(
      [
        { model: 'gateway/qwen-pro', id: 'dead', url: DEAD_URL },
        { model: 'gateway/qwen-fast', id: 'alive', url: simulator.url.replace(/\/v1$/, '') },
      ],
      { num_retries: 0, allowed_fails: 1, fallbacks: [{ 'gateway/qwen-pro': ['gateway/qwen-fast'] }] },
    );
    proxy = await startTestProxy(db, { config });
    edge = await startTestEdge(db, { upstreamUrl: proxy.url });
  });
  afterAll(async () => {
    await edge?.close();
    await proxy?.close();
    await simulator?.close();
    await db?.close();
  });

  test.each([false, true])(
    'is recorded as it was served and charged at that price (stream: %s)',
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
});
