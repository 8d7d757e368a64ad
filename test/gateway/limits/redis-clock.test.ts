import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createTestKey, postChat, startTestEdge, type TestEdge } from '../../support/edge.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.js';

describeWithRedis("a step of Redis's clock", () => {
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  let redis: TestRedis;
  let edge: TestEdge;
  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startScriptedUpstream();
    redis = await createTestRedis();
    edge = await startTestEdge(db, {
      upstreamUrl: upstream.url,
      env: { REDIS_URL: redis.url },
      patience: { redisMs: 5_000, queueMs: 250 },
    });
  });
  afterAll(async () => {
    await edge.close();
    await redis.close();
    await upstream.close();
    await db.close();
  });

  /** Shifts the stored times, as seen after a step of the clock. */
  const step = async (key: string, ms: number): Promise<void> => {
    for (const member of await redis.client.zrange(key, 0, -1)) await redis.client.zincrby(key, ms, member);
  };

  test('a full minute stays full for a minute at most after the clock steps back by an hour', async () => {
    const { key, accountId } = await createTestKey(db, { plan: 'free' });
    for (let i = 0; i < 20; i++) expect((await postChat(edge.url, key)).status).toBe(200);
    const window = `gw:{${accountId}}:rate`;
    await step(window, 3_600_000);
    const refused = await postChat(edge.url, key);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(Number(refused.headers.get('x-ratelimit-reset-requests')!.slice(0, -1))).toBeGreaterThan(50);
    expect(await redis.client.zcard(window)).toBe(20);
    await step(window, -60_000);
    expect((await postChat(edge.url, key)).status).toBe(200);
  });
});
