import { systemClock } from '../../src/lib/clock.js';
import { type Simulator, startSimulator } from '../../src/proxy/simulator/server.js';
import { routes } from '../proxy/routes.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, errorOf, postChat, startTestEdge, type TestEdge, usageOf } from '../support/edge.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';

/** `GET /v1/models` lists the models of the plan, whatever the routing file says. */
describe('a model that the operator has not routed', () => {
  let db: TestDatabase;
  let simulator: Simulator;
  let proxy: TestProxy;
  let edge: TestEdge;

  beforeAll(async () => {
    db = await createTestDatabase();
    simulator = await startSimulator({ clock: systemClock, models: [] });
    const config = routes([{ model: 'gateway/fast', id: 'only', url: simulator.url.replace(/\/v1$/, '') }]);
    proxy = await startTestProxy(db, { config });
    edge = await startTestEdge(db, { upstreamUrl: proxy.url });
  });
  afterAll(async () => {
    await edge?.close();
    await proxy?.close();
    await simulator?.close();
    await db?.close();
  });

  test.each([false, true])('is unavailable, and not the fault of its caller (stream: %s)', async (stream) => {
    const { accountId, key } = await createTestKey(db, { virtualKey: proxy.masterKey });
    const served = await postChat(edge.url, key, { stream });
    await served.text();
    expect(served.status).toBe(200);
    const response = await postChat(edge.url, key, { model: 'gateway/qwen-pro', stream });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await errorOf(response)).code).toBe('upstream_unavailable');
    await edge.settled();
    expect((await usageOf(db, accountId)).at(-1)).toMatchObject({
      requested_model: 'gateway/qwen-pro',
      error_code: 'upstream_unavailable',
      http_status: 503,
      cost: '0.000000000000',
    });
  });
});
