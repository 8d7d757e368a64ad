import type { ServerResponse } from 'node:http';
import { call, signUp } from '../../support/api.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { errorOf, postChat, startTestEdge, type TestEdge } from '../../support/edge.js';
import { startTestPlatform, type TestPlatform } from '../../support/platform.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { chat, raw, type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { until } from '../../support/until.js';

describeWithRedis('a daily cap for a key that had none', () => {
  let db: TestDatabase;
  let redis: TestRedis;
  let upstream: ScriptedUpstream;
  let platform: TestPlatform;
  let edges: TestEdge[];
  beforeAll(async () => {
    db = await createTestDatabase();
    redis = await createTestRedis();
    upstream = await startScriptedUpstream();
    platform = await startTestPlatform(db, {
      env: TEST_SECRETS,
      virtualKeys: { generate: async () => 'sk-virtual-of-the-tests', remove: async () => undefined },
    });
    const options = {
      upstreamUrl: upstream.url,
      env: { REDIS_URL: redis.url },
      patience: { redisMs: 10_000, queueMs: 250, beatMs: 100 },
    };
    edges = [await startTestEdge(db, options), await startTestEdge(db, options)];
  });
  afterAll(async () => {
    for (const edge of edges) await edge.close();
    await platform.close();
    await upstream.close();
    await redis.close();
    await db.close();
  });

  test('holds of calls in flight count against a new cap, whichever edge has them', async () => {
    const [one, other] = edges as [TestEdge, TestEdge];
    const { token } = await signUp(platform.url);
    const made = await call<{ api_key: { id: string }; key: string }>(platform.url, 'POST', '/api/keys', {
      token,
      body: { name: 'capped later' },
    });
    const { api_key: apiKey, key } = made.body;
    const { promise, resolve } = Promise.withResolvers<() => void>();
    upstream.answer((request, response: ServerResponse) =>
      resolve(() => raw(400, '{"error":{"message":"no"}}')(request, response)),
    );
    const inFlight = postChat(other.url, key);
    const answer = await promise;
    upstream.answer(chat());
    const path = `/api/keys/${apiKey.id}`;
    expect(
      (await call(platform.url, 'PATCH', path, { token, body: { daily_limit_usd: 0.000001 } })).status,
    ).toBe(200);
    await until(async () => Object.keys(await redis.open()).some((name) => name.includes(':cap:')), {
      what: 'the hold to count against the cap',
      timeoutMs: 2_000,
    });
    const refused = await postChat(one.url, key);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([402, '1']);
    expect((await errorOf(refused)).code).toBe('daily_cap_exceeded');
    answer();
    // A call that gets an error is free.
    expect((await inFlight).status).toBe(400);
    await until(async () => (await postChat(one.url, key)).status === 200);
  });
});
