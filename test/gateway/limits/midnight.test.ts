import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '../../../src/lib/ids.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { type TestClock, testClock } from '../../support/clock.js';
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
import { createTcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';

const BEFORE_MIDNIGHT = Date.UTC(2026, 10, 21, 23, 59, 55);
const CAP = 60n * UNIT;

let clock: TestClock;
let redis: TestRedis;
let edges: LimitsEdge[];
let ledger: Ledger;

async function start(
  count: number,
  counted: 'alone' | 'redis',
  ...each: LimitsEdgeOptions[]
): Promise<LimitsEdge[]> {
  clock = testClock(BEFORE_MIDNIGHT);
  const same = { accountId: newId(), keyId: newId(), clock, dailyLimit: CAP };
  ledger = new Ledger(DOLLAR);
  for (let nth = 0; nth < count; nth++) {
    edges.push(
      await limitsEdge(ledger, {
        ...same,
        patience: { redisMs: 10_000, queueMs: 50 },
        ...(counted === 'redis' && { redisUrl: redis.url }),
        ...each[nth],
      }),
    );
  }
  return edges;
}

beforeEach(() => {
  edges = [];
});
afterEach(async () => {
  for (const edge of edges) await edge.limits.stop();
});

/** Daily caps of keys count by UTC day. */
function capsAtMidnight(count: number, counted: 'alone' | 'redis'): void {
  test("pending charges of the day before don't count in a new day", async () => {
    const [one] = await start(count, counted);
    for (let call = 0; call < 60; call++) one!.settle(await one!.admit(1), UNIT);
    expect(await outcomeOf(one!.admit(1))).toBe('daily_cap_exceeded');
    clock.advance(5_000);
    one!.settle(await one!.admit(1), UNIT);
    // The commit of yesterday’s charges frees nothing of today’s.
    one!.flush();
    expect(await exhaust(one!)).toEqual([59, 'daily_cap_exceeded']);
  });

  test('a charge of the new day counts once if it is read before its commit is reported', async () => {
    const [one] = await start(count, counted);
    clock.advance(5_000);
    one!.settle(await one!.admit(1), 40n * UNIT);
    ledger.charge(40n * UNIT, '2026-11-22');
    await one!.readAgain();
    expect(await exhaust(one!)).toEqual([20, 'daily_cap_exceeded']);
  });

  test('holds of calls in flight on all edges count in a new day', async () => {
    const all = await start(count, counted);
    for (let call = 0; call < 50; call++) await all.at(-1)!.admit(1);
    clock.advance(5_000);
    expect(await exhaust(all[0]!)).toEqual([10, 'daily_cap_exceeded']);
  });
}

describe('at midnight, one edge', () => capsAtMidnight(1, 'alone'));

describeWithRedis('at midnight, edges over Redis', () => {
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterAll(() => redis.close());
  capsAtMidnight(2, 'redis');

  /** The states of the capped key in Redis, one per day. */
  const caps = async (): Promise<string[]> => {
    const names = await redis.client.keys(`gw:*:cap:${edges[0]!.entry.credential.id}:*`);
    return Promise.all(names.map(async (name) => (await redis.client.get(name))!));
  };

  test('the hold of a call that is admitted while the day changes counts in the new day', async () => {
    const link = await createTcpProxy(Number(new URL(redis.url).port));
    const [one, other] = (await start(2, 'redis', { redisUrl: link.urlOf(redis.url) })) as [
      LimitsEdge,
      LimitsEdge,
    ];
    one.settle(await one.admit(1), 0n);
    await until(async () => (await caps()).every((text) => text.endsWith(' 0 0')));
    link.freeze();
    const last = one.admit(50);
    await pause(1);
    clock.advance(5_000);
    // While two calls are unanswered, the edge reports only differences.
    const first = one.admit(1);
    await pause(1);
    await other.admit(1);
    link.restore();
    await Promise.all([last, first]);
    expect(await exhaust(other)).toEqual([8, 'daily_cap_exceeded']);
    await link.close();
  });

  test('the holds of a suspended edge count in a new day', async () => {
    const asleep = { patience: { redisMs: 10_000, queueMs: 50, beatMs: 600_000 } };
    const [other, one] = (await start(2, 'redis', {}, asleep)) as [LimitsEdge, LimitsEdge];
    await one.admit(50);
    const [now] = await redis.client.time();
    await redis.client.zadd('gw:edges', 1_000 * (Number(now) - 20), one.identity.id);
    clock.advance(5_000);
    expect(await exhaust(other)).toEqual([10, 'daily_cap_exceeded']);
  });
});
