import { newId } from '../../../src/lib/ids.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { type TestClock, testClock } from '../../support/clock.js';
import { exhaust, Ledger, type LimitsEdge, limitsEdge, outcomeOf, UNIT } from '../../support/limits.js';
import { createTestMachine, type TestMachine } from '../../support/machine.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';

const BEFORE_MIDNIGHT = Date.UTC(2026, 10, 21, 23, 59, 55);
const CAP = 60n * UNIT;

let clock: TestClock;
let machine: TestMachine;
let redis: TestRedis;
let edges: LimitsEdge[];

async function start(count: number, counted: 'alone' | 'machine' | 'redis'): Promise<LimitsEdge[]> {
  clock = testClock(BEFORE_MIDNIGHT);
  if (counted === 'machine') machine = createTestMachine({ clock });
  const same = { accountId: newId(), keyId: newId(), clock, dailyLimit: CAP };
  const ledger = new Ledger(DOLLAR);
  for (let nth = 0; nth < count; nth++) {
    edges.push(
      await limitsEdge(ledger, {
        ...same,
        patience: { redisMs: 10_000, queueMs: 50 },
        ...(counted === 'redis' && { redisUrl: redis.url }),
        ...(counted === 'machine' && { counter: await machine.join() }),
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

/** SPEC section 8: caps of keys count by UTC day. */
function capsAtMidnight(count: number, counted: 'alone' | 'machine' | 'redis'): void {
  test('a new day begins without what the day before has not committed yet', async () => {
    const [one] = await start(count, counted);
    for (let call = 0; call < 60; call++) one!.settle(await one!.admit(1), UNIT);
    expect(await outcomeOf(one!.admit(1))).toBe('daily_cap_exceeded');
    clock.advance(5_000);
    one!.settle(await one!.admit(1), UNIT);
    // The commit of yesterday’s charges frees nothing of today’s.
    one!.flush();
    expect(await exhaust(one!)).toEqual([59, 'daily_cap_exceeded']);
  });

  test('a new day begins with what calls in flight hold, of all edges', async () => {
    const all = await start(count, counted);
    for (let call = 0; call < 50; call++) await all.at(-1)!.admit(1);
    clock.advance(5_000);
    expect(await exhaust(all[0]!)).toEqual([10, 'daily_cap_exceeded']);
  });
}

describe('at midnight, one edge', () => capsAtMidnight(1, 'alone'));

describe('at midnight, edges of one machine', () => {
  afterEach(() => machine.counter.stop());
  capsAtMidnight(2, 'machine');
});

describeWithRedis('at midnight, edges over Redis', () => {
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterAll(() => redis.close());
  capsAtMidnight(2, 'redis');
});
