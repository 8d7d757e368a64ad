import { readMembership } from '../../../src/inference/limits/shared/edge-membership.js';
import { SCRIPTS } from '../../../src/inference/limits/shared/redis-scripts.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';

describeWithRedis('a heartbeat', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterEach(() => redis.client.flushall());
  afterAll(() => redis.close());

  async function beat(edge: string, kind: 'live' | 'look' | 'end', at: number) {
    const answer = await redis.client.eval(SCRIPTS.beat, 1, 'gw:edges', edge, 600_000, kind, at);
    return readMembership(answer as (string | number)[], edge);
  }

  test("a heartbeat carries the time of its edge's last contact, however late it arrives", async () => {
    const { now } = await beat('a', 'look', 0);
    await beat('b', 'live', now - 1_000);
    const membership = await beat('a', 'live', now - 5_000);
    expect(Object.fromEntries(membership.beats)).toEqual({ a: now - 5_000, b: now - 1_000 });
    expect(membership).toMatchObject({ alive: 2, vouchedSince: now - 5_000 });
    // A heartbeat that was overtaken.
    await beat('b', 'live', now - 2_000);
    expect((await beat('a', 'look', 0)).beats.get('b')).toBe(now - 1_000);
  });

  test('a heartbeat that only looks leaves no trace', async () => {
    const membership = await beat('a', 'look', 0);
    expect(membership).toMatchObject({ known: false, vouchedSince: membership.now });
    expect((await beat('a', 'live', membership.now)).known).toBe(false);
    expect((await beat('a', 'live', membership.now)).known).toBe(true);
  });

  test('a heartbeat from before the clock stepped back counts as of now', async () => {
    const { now } = await beat('a', 'look', 0);
    await redis.client.zadd('gw:edges', now + 3_600_000, 'a');
    const membership = await beat('a', 'live', now + 3_600_000);
    expect(membership.beats.get('a')).toBe(membership.now);
  });

  test('an edge that shuts down is silent at once', async () => {
    const { now } = await beat('b', 'look', 0);
    await beat('b', 'live', now);
    expect(await beat('a', 'live', now)).toMatchObject({ alive: 2 });
    await beat('b', 'end', now - 15_000);
    expect(await beat('a', 'live', now)).toMatchObject({ alive: 1, silent: ['b'], vouchedSince: now });
  });
});
