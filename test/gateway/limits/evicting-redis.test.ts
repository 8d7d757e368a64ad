import { newId } from '../../../src/lib/ids.js';
import { DOLLAR } from '../../../src/lib/money.js';
import {
  exhaust,
  Ledger,
  type LimitsEdge,
  type LimitsEdgeOptions,
  limitsEdge,
  outcomeOf,
  UNIT,
} from '../../support/limits.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';

const FLOOR = DOLLAR / 1000n;
const STREAMS = 10;
const PATIENCE = { redisMs: 10_000, queueMs: 250 };
/** Keys of junk, several times as many as fit. */
const FLOOD = 3_000;

/** Requirement F27: Redis loses single keys while the rest stays. */
describeWithRedis(`edges with ${STREAMS} open streams`, () => {
  let redis: TestRedis;
  let edges: LimitsEdge[] = [];
  beforeEach(async () => {
    redis = await createTestRedis();
  });
  afterEach(async () => {
    for (const edge of edges.splice(0)) await edge.limits.stop();
    await redis.close();
  });

  async function start(ledger: Ledger, options: LimitsEdgeOptions = {}): Promise<[LimitsEdge, LimitsEdge]> {
    const same = { redisUrl: redis.url, accountId: newId(), keyId: newId(), patience: PATIENCE, ...options };
    edges = [await limitsEdge(ledger, same), await limitsEdge(ledger, same)];
    const alive = ({ registry }: LimitsEdge) => registry.getSingleMetric('gateway_edges_alive')!.get();
    await until(async () =>
      (await Promise.all(edges.map(alive))).every(({ values }) => values[0]!.value === 2),
    );
    return edges as [LimitsEdge, LimitsEdge];
  }

  /** Streams on the first edge that hold 90 of 100 units. */
  const openStreams = (edge: LimitsEdge) => Promise.all(Array.from({ length: STREAMS }, () => edge.admit(9)));

  /** A call of the other edge fits into the ten units that are left, and the next may go beyond. */
  async function spendsTwo(other: LimitsEdge, refusal = 'insufficient_credits'): Promise<void> {
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => outcomeOf(other.admit(9))));
    expect(outcomes.toSorted()).toEqual([...Array(2).fill('admitted'), ...Array(8).fill(refusal)]);
  }

  test.each([
    ['the balance', ':balance'],
    ['the calls of the minute', ':rate'],
    ['the list of open states', 'gw:open'],
  ])('edges overspend by one call at most when Redis loses %s', async (_name, suffix) => {
    const [one, other] = await start(new Ledger(FLOOR + 100n * UNIT));
    await openStreams(one);
    const keys = (await redis.client.keys('*')).filter((key) => key.endsWith(suffix));
    expect(keys).toHaveLength(1);
    expect(await redis.client.del(...keys)).toBe(1);
    await spendsTwo(other);
  });

  test('edges overspend by one call at most when Redis loses the balance and the list of open states of an account in use on both edges', async () => {
    const [one, other] = await start(new Ledger(FLOOR + 100n * UNIT));
    other.settle(await other.admit(1), 0n);
    await openStreams(one);
    await redis.client.del('gw:open', `gw:{${one.entry.account.id}}:balance`);
    await spendsTwo(other);
  });

  test('edges overspend by one call at most when Redis loses a daily cap', async () => {
    const [one, other] = await start(new Ledger(DOLLAR), { dailyLimit: 100n * UNIT });
    await openStreams(one);
    expect(await redis.client.del(...(await redis.client.keys('*:cap:*')))).toBe(1);
    await spendsTwo(other, 'daily_cap_exceeded');
  });

  test('edges overspend by one call at most when Redis loses the list of edges', async () => {
    const [one, other] = await start(new Ledger(FLOOR + 100n * UNIT));
    await openStreams(one);
    await redis.client.del('gw:edges');
    await until(() => edges.every(({ log }) => log.at(-1) === 'Redis is back; limits are shared again'));
    await spendsTwo(other);
  });

  test('lost holds and calls of the last minute are reported again within a heartbeat', async () => {
    const [one, other] = await start(new Ledger(DOLLAR), { requestsPerMinute: 20 });
    await openStreams(one);
    const { id } = one.entry.account;
    await redis.client.del(`gw:{${id}}:balance`, `gw:{${id}}:rate`);
    await until(async () => Object.values(await redis.open()).includes(String(90n * UNIT)));
    await until(async () => (await redis.client.zcard(`gw:{${id}}:rate`)) === STREAMS);
    // Calls wait until the lost state has been reported again.
    await until(async () => (await outcomeOf(other.admit(0))) === 'admitted');
    expect(await exhaust(other)).toEqual([9, 'rate_limit_exceeded']);
  });

  test('edges overspend by one call at most when Redis evicts keys because its memory is full', async () => {
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const [one, other] = await start(new Ledger(FLOOR + 100n * UNIT));
    for (const { log } of edges)
      expect(log.filter((line) => line.includes('maxmemory-policy allkeys-lru'))).toHaveLength(1);
    other.settle(await other.admit(1), 0n);
    await openStreams(one);
    const used = Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))![1]);
    await redis.client.config('SET', 'maxmemory', String(used + 1_000_000));
    for (let nth = 0; nth < FLOOD; nth++) await redis.client.set(`junk:${nth}`, 'x'.repeat(1_000));
    expect(/evicted_keys:(\d+)/.exec(await redis.client.info('stats'))![1]).not.toBe('0');
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => outcomeOf(other.admit(9))));
    expect(outcomes.filter((outcome) => outcome === 'admitted').length).toBeLessThanOrEqual(2);
  });
});
