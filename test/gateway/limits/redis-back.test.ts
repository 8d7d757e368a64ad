import { newId } from '../../../src/lib/ids.js';
import { DOLLAR } from '../../../src/lib/money.js';
import {
  exhaust,
  Ledger,
  type LimitsEdge,
  type LimitsEdgeOptions,
  limitsEdge,
} from '../../support/limits.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';

const MEMBERSHIP = 'gw:edges';
const PATIENCE = { redisMs: 10_000, queueMs: 250, beatMs: 500 };

/** RELIABILITY.md F11: the way back to limits that are shared. */
describeWithRedis('edges on their way back to Redis', () => {
  let redis: TestRedis;
  const edges: LimitsEdge[] = [];
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterEach(async () => {
    for (const edge of edges.splice(0)) await edge.limits.stop();
    await redis.client.flushall();
  });
  afterAll(() => redis.close());

  const gauge = async ({ registry }: LimitsEdge, name: string): Promise<number> =>
    (await registry.getSingleMetric(name)!.get()).values[0]!.value;
  const shared = async (edge: LimitsEdge): Promise<boolean> =>
    (await gauge(edge, 'gateway_limits_shared')) === 1;
  const lastBeat = async ({ identity }: LimitsEdge): Promise<number> =>
    Number((await redis.client.zscore(MEMBERSHIP, identity.id)) ?? 0);

  async function two(...each: LimitsEdgeOptions[]): Promise<[LimitsEdge, LimitsEdge]> {
    const same = { redisUrl: redis.url, accountId: newId(), keyId: newId(), patience: PATIENCE };
    const ledger = new Ledger(DOLLAR);
    for (const options of each) edges.push(await limitsEdge(ledger, { ...same, ...options }));
    const alive = async () => Promise.all(edges.map((edge) => gauge(edge, 'gateway_edges_alive')));
    await until(async () => (await alive()).every((count) => count === each.length));
    return edges as [LimitsEdge, LimitsEdge];
  }

  test('are back at once where the others had taken one for dead, since Redis has forgotten nothing', async () => {
    // Whoever takes Redis for emptied waits for three seconds.
    const options = { requestsPerMinute: 400, patience: { ...PATIENCE, beatMs: 2_000 } };
    const [one, other] = await two(options, options);
    await one.admit(1);
    const before = await lastBeat(one);
    other.identity.replaced([one.identity.id]);
    await until(async () => (await lastBeat(one)) < before);
    await other.admit(1);
    await one.admit(1);
    await until(() => shared(one), { timeoutMs: 1_000, intervalMs: 1 });
    expect((await exhaust(one))[0] + (await exhaust(other))[0]).toBe(397);
  }, 60_000);
});
