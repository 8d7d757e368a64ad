import { setTimeout as pause } from 'node:timers/promises';
import { SHARED_RESERVE } from '../../../src/inference/limits/shared/degraded-quota.js';
import { utcDay } from '../../../src/lib/clock.js';
import { newId } from '../../../src/lib/ids.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { testClock } from '../../support/clock.js';
import {
  Ledger,
  type LimitsEdge,
  type LimitsEdgeOptions,
  limitsEdge,
  outcomeOf,
  TestCaller,
  takingOver,
  UNIT,
} from '../../support/limits.js';
import { ownTime } from '../../support/own-time.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { createTcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';

const FLOOR = DOLLAR / 1000n;
/** What is counted must be exact however busy the machine is. */
const PATIENCE = { redisMs: 5_000, queueMs: 5_000 };

describeWithRedis('limits over Redis', () => {
  let redis: TestRedis;
  let edges: LimitsEdge[] = [];
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterEach(async () => {
    redis.thaw();
    for (const edge of edges.splice(0)) await edge.limits.stop();
    await redis.client.flushall();
  });
  afterAll(() => redis.close());

  async function twoEdges(
    ledger: Ledger,
    options: LimitsEdgeOptions = {},
  ): Promise<[LimitsEdge, LimitsEdge]> {
    const same = { redisUrl: redis.url, accountId: newId(), keyId: newId(), ...options };
    edges = [await limitsEdge(ledger, same), await limitsEdge(ledger, same)];
    return edges as [LimitsEdge, LimitsEdge];
  }

  /** Sends calls to both edges in turn. Returns the admitted and the refused ones. */
  async function storm(pair: [LimitsEdge, LimitsEdge], calls: number, units: number) {
    const tries = Array.from({ length: calls }, (_, i) => {
      const edge = pair[i % 2]!;
      return edge.admit(units).then(
        (admission) => ({ edge, admission }),
        (error: { code: string }) => error.code,
      );
    });
    const results = await Promise.all(tries);
    return {
      admitted: results.filter((result) => typeof result !== 'string'),
      refused: results.filter((result) => typeof result === 'string'),
    };
  }

  /** The open amounts of dead edges. */
  const deadOf = (open: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(open)
        .map(([name, amount]) => [name.split(' ')[1]!, amount] as const)
        .filter(([name]) => name.includes(':dead')),
    );

  const aliveOf = async ({ registry }: LimitsEdge): Promise<number> =>
    (await registry.getSingleMetric('gateway_edges_alive')!.get()).values[0]!.value;

  test.each([2, 50, 500, 2_000])(
    '%i parallel calls on two edges hold at most one call more than the balance',
    async (calls) => {
      const ledger = new Ledger(FLOOR + UNIT * 25n);
      const pair = await twoEdges(ledger, { patience: { ...PATIENCE, queueMs: 250 } });
      const { admitted, refused } = await storm(pair, calls, 10);
      // 10 units each: the third takes it over the floor, and no fourth is let in.
      expect(admitted).toHaveLength(Math.min(calls, 3));
      expect(new Set(refused)).toEqual(new Set(calls > 3 ? ['insufficient_credits'] : []));
      for (const { edge, admission } of admitted) edge.settle(admission, UNIT * 10n);
      for (const edge of pair) edge.flush();
      expect(ledger.balance).toBeGreaterThanOrEqual(FLOOR - UNIT * 10n);
      await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
    },
  );

  test('parallel calls on two edges hold at most one call more than a daily cap', async () => {
    const ledger = new Ledger(DOLLAR);
    const pair = await twoEdges(ledger, { dailyLimit: UNIT * 25n, patience: { ...PATIENCE, queueMs: 250 } });
    const { admitted, refused } = await storm(pair, 200, 10);
    expect(admitted).toHaveLength(3);
    expect(new Set(refused)).toEqual(new Set(['daily_cap_exceeded']));
    for (const { edge, admission } of admitted) edge.settle(admission, UNIT * 10n);
    for (const edge of pair) edge.flush();
    await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
    await expect(pair[1].admit(1)).rejects.toMatchObject({ code: 'daily_cap_exceeded', noRetry: true });
  });

  test('requests per minute are exact over two edges, and refused calls leave no trace', async () => {
    const pair = await twoEdges(new Ledger(DOLLAR), { requestsPerMinute: 60, patience: PATIENCE });
    const { admitted, refused } = await storm(pair, 300, 1);
    expect(admitted).toHaveLength(60);
    expect(new Set(refused)).toEqual(new Set(['rate_limit_exceeded']));
    expect(await redis.client.zcard(`gw:{${pair[0].entry.account.id}}:rate`)).toBe(60);
  });

  test('amounts beyond the precision of doubles are compared to the last digit', async () => {
    const large = DOLLAR * 5_000_000n;
    const patience = { redisMs: 5_000, queueMs: 50 };
    // A quarter of what lies above the last five cents is kept for edges that lose touch with Redis.
    const free = large - (large - SHARED_RESERVE) / 4n;
    for (const [dailyLimit, code, most] of [
      [null, 'insufficient_credits', free],
      // Of a cap there must be something left.
      [large, 'daily_cap_exceeded', free - 1n],
    ] as const) {
      const pair = await twoEdges(new Ledger(large + FLOOR), { dailyLimit, patience });
      const perEdge = dailyLimit === null ? 1 : 2;
      pair[0].settle(await pair[0].admit(1), most);
      await until(async () => Object.keys(await redis.open()).length === perEdge, {
        what: 'the charge to arrive',
      });
      pair[1].settle(await pair[1].admit(1), 1n);
      await until(
        async () => Object.values(await redis.open()).filter((sum) => sum === '1').length === perEdge,
      );
      // A unit of 1e-12 dollars too much.
      await expect(pair[0].admit(1)).rejects.toMatchObject({ code });
      for (const edge of edges.splice(0)) await edge.limits.stop();
      await redis.client.flushall();
    }
  });

  test('no call is refused for a charge that another edge has committed but not reported yet', async () => {
    const ledger = new Ledger(FLOOR + UNIT * 199n);
    const dailyLimit = UNIT * 200n;
    const pair = await twoEdges(ledger, { dailyLimit, patience: PATIENCE });
    pair[0].settle(await pair[0].admit(1), UNIT * 110n);
    await until(async () => Object.values(await redis.open()).includes(String(UNIT * 110n)));
    // The other edge has read the commit, which hasn't been reported to Redis.
    const commit = UNIT * 110n;
    pair[1].entry.account.observe(ledger.balance - commit, ledger.seq + 1n);
    pair[1].entry.day.observe(utcDay(Date.now()), commit);
    const asked = pair[1].admit(1);
    const key = `gw:{${pair[0].entry.account.id}}:balance`;
    // It has been asked for, and doesn't fit.
    await until(async () => (await redis.client.get(key))!.includes(`;${pair[1].identity.id} `));
    pair[0].flush();
    await expect(asked).resolves.toMatchObject({ held: true });
  });

  test('a waiting call is admitted when the other edge settles', async () => {
    const pair = await twoEdges(new Ledger(FLOOR + UNIT), { patience: PATIENCE });
    const first = await pair[0].admit(10);
    const second = pair[1].admit(10);
    await new Promise(setImmediate);
    pair[0].settle(first, 0n);
    await expect(second).resolves.toMatchObject({ held: true });
  });

  test('a caller that leaves while Redis decides holds nothing', async () => {
    const [edge] = await twoEdges(new Ledger(DOLLAR), { patience: PATIENCE });
    const caller = new TestCaller();
    const asked = edge.admit(10, caller);
    caller.leave();
    await expect(asked).rejects.toThrow();
    await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
    expect(edge.entry.account.holds).toBe(0n);
  });

  test('a lone caller spends its balance down to the floor without a refusal', async () => {
    const ledger = new Ledger(FLOOR + UNIT * 200n);
    const pair = await twoEdges(ledger, { patience: PATIENCE });
    let calls = 0;
    while (ledger.balance >= FLOOR) {
      const edge = pair[calls++ % 2]!;
      const admission = await edge.admit(1_000);
      edge.settle(admission, UNIT);
      if (calls % 7 === 0 || ledger.balance - UNIT * 8n < FLOOR) for (const other of pair) other.flush();
    }
    expect(calls).toBe(201);
    await expect(pair[0].admit(1)).rejects.toMatchObject({ code: 'insufficient_credits' });
  });

  test('without an answer of Redis in time, an edge decides by its share, and nothing counts twice afterwards', async () => {
    const pair = await twoEdges(new Ledger(DOLLAR), { requestsPerMinute: 20 });
    await until(() => Promise.all(pair.map(aliveOf)).then((seen) => seen.every((count) => count === 2)), {
      what: 'the edges to know of each other',
    });
    await storm(pair, 4, 1);
    redis.freeze();
    const time = ownTime();
    const began = time.now();
    const { admitted } = await storm(pair, 100, 1);
    expect(time.now() - began).toBeLessThan(1_000);
    // Two each before, and each edge's share of 20 is ten.
    expect(admitted).toHaveLength(16);
    const later = time.now();
    for (const edge of pair)
      await expect(edge.admit(1)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    // Two waits for an answer of Redis would take twice 50 ms.
    expect(time.now() - later).toBeLessThan(95);
    time.stop();
    redis.thaw();
    const shared = (edge: LimitsEdge) => edge.log.at(-1) === 'Redis is back; limits are shared again';
    await until(() => pair.every(shared), { what: 'the limits to be shared again' });
    for (const edge of pair) {
      // A busy machine may keep Redis before, or once more.
      const from = edge.log.indexOf('limits are shared through Redis');
      expect(edge.log.slice(from, from + 3)).toEqual([
        'limits are shared through Redis',
        expect.stringContaining('enforces its share'),
        'Redis is back; limits are shared again',
      ]);
      await expect(edge.admit(1)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    }
    for (const { edge, admission } of admitted) edge.settle(admission, 0n);
  });

  test('a Redis that comes back empty gets all open amounts before it decides', async () => {
    const ledger = new Ledger(FLOOR + UNIT * 20n);
    const pair = await twoEdges(ledger, { patience: { ...PATIENCE, queueMs: 250 } });
    const held = await pair[0].admit(15);
    await redis.kill();
    const logged = (text: string) => pair.every(({ log }) => log.at(-1)!.includes(text));
    await until(() => logged('enforces its share'), { what: 'the loss to be noticed' });
    await redis.start();
    await until(() => logged('limits are shared again'), { what: 'the limits to be shared again' });
    // 5 of the 20 units are left: one call fits, which takes the rest.
    const last = await pair[1].admit(15);
    await expect(pair[1].admit(1)).rejects.toMatchObject({ code: 'insufficient_credits' });
    pair[0].settle(held, UNIT * 15n);
    pair[1].settle(last, UNIT * 15n);
    for (const edge of pair) edge.flush();
    expect(ledger.balance).toBe(FLOOR - UNIT * 10n);
    await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
  });

  test('FLUSHALL is noticed at the next heartbeat, and open amounts are reported again', async () => {
    const pair = await twoEdges(new Ledger(DOLLAR));
    const held = await pair[0].admit(15);
    await redis.client.flushall();
    await until(async () => Object.values(await redis.open()).includes(String(UNIT * 15n)), {
      what: 'the hold to be back',
    });
    pair[0].settle(held, 0n);
    await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
  });

  test('after FLUSHALL an edge waits for another one that had just started before it shares again', async () => {
    // The first has had no heartbeat since the second began.
    const patience = { redisMs: 5_000, queueMs: 250, beatMs: 500 };
    const pair = await twoEdges(new Ledger(DOLLAR), { patience });
    await redis.client.flushall();
    for (const edge of pair) {
      await until(() => edge.log.at(-1) === 'Redis is back; limits are shared again', { intervalMs: 1 });
      expect(await aliveOf(edge)).toBe(2);
    }
  });

  test('a refused call leaves no amounts behind, even if its edge reports before the answer', async () => {
    const link = await createTcpProxy(Number(new URL(redis.url).port));
    const same = { accountId: newId(), keyId: newId(), requestsPerMinute: 1, patience: PATIENCE };
    const edge = await limitsEdge(new Ledger(DOLLAR), { ...same, redisUrl: link.urlOf(redis.url) });
    edges = [edge];
    edge.settle(await edge.admit(1), 0n);
    await until(async () => Object.keys(await redis.open()).length === 0);
    link.freeze();
    const asked = outcomeOf(edge.admit(50));
    await pause(1);
    // A cap is set, so the holds of calls in flight are reported.
    edge.limits.capAdded({ ...edge.entry, dailyLimit: DOLLAR });
    await pause(1);
    link.restore();
    expect(await asked).toBe('rate_limit_exceeded');
    await until(async () => (await redis.client.keys('gw:*:cap:*')).length > 0, { what: 'the report' });
    await until(async () => Object.keys(await redis.open()).length === 0);
    expect(await redis.client.keys('gw:*:cap:*')).toHaveLength(1);
    await link.close();
  });

  test('the last report of an account is repeated if Redis refuses it', async () => {
    const clock = testClock(Date.now());
    const [one] = await twoEdges(new Ledger(DOLLAR), { clock, patience: { ...PATIENCE, beatMs: 200 } });
    const failures = async () =>
      (await one.registry.getSingleMetric('gateway_redis_failures_total')!.get()).values[0]!.value;
    const admission = await one.admit(10);
    await redis.client.config('SET', 'maxmemory', '1');
    one.settle(admission, 0n);
    await until(async () => (await failures()) > 0, { intervalMs: 1, what: 'the report to be refused' });
    await redis.client.config('SET', 'maxmemory', '0');
    clock.advance(10_000);
    await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
  });

  test("a dead edge's holds are released first; its charges count until its spool must be committed", async () => {
    const ledger = new Ledger(FLOOR + UNIT * 20n);
    const pair = await twoEdges(ledger);
    const { id } = pair[0].entry.account;
    const clock = Date.now();
    await redis.client.zadd('gw:edges', clock - 70_000, 'dead-1', clock - 130_000, 'dead-2');
    await redis.leave(id, ledger.balance, {
      'dead-1': { holds: UNIT * 100n, charges: UNIT * 10n },
      'dead-2': { holds: UNIT * 100n, charges: UNIT * 100n },
    });
    const admitted = await until(() => pair[0].admit(10).catch(() => undefined), {
      what: 'the dead edges to be noticed',
    });
    pair[0].settle(admitted, 0n);
    const fields = async () => deadOf(await redis.open());
    // When Redis was late, the edge decided by its share: Redis learns of it with the next call.
    await until(async () => {
      const next = await pair[0].admit(1).catch(() => undefined);
      if (next) pair[0].settle(next, 0n);
      return !('h:dead-1' in (await fields()));
    });
    expect(await fields()).toEqual({ 'c:dead-1': String(UNIT * 10n) });
  });

  test("a dead edge's charges count as long as another edge has its spool and can't commit it", async () => {
    const ledger = new Ledger(FLOOR + UNIT * 20n);
    const [one, other] = await twoEdges(ledger, { patience: { ...PATIENCE, queueMs: 50, beatMs: 20 } });
    const silentFor = async () => Date.now() - Number(await redis.client.zscore('gw:edges', 'dead'));
    await redis.client.zadd('gw:edges', Date.now() - 115_000, 'dead');
    await redis.leave(one.entry.account.id, ledger.balance, { dead: { holds: UNIT, charges: UNIT * 100n } });
    for (let time = 0; time < 3; time++) {
      other.identity.notifyAdopted(['dead', 'never-heard-of']);
      await until(async () => (await silentFor()) < 100_000, { what: 'the dead edge to be kept' });
      // As long again as it takes to be gone, nearly.
      await redis.client.zincrby('gw:edges', -55_000, 'dead');
    }
    expect(await outcomeOf(one.admit(10))).toBe('insufficient_credits');
    expect(deadOf(await redis.open())).toMatchObject({ 'c:dead': String(UNIT * 100n) });
    other.identity.notifyCommitted(['dead']);
    await until(async () => (await silentFor()) >= 110_000, { what: 'the dead edge to be reported' });
    // It may come late.
    other.identity.notifyAdopted(['dead']);
    const silent = await redis.client.zscore('gw:edges', 'dead');
    const began = Date.now();
    await until(async () => Number(await redis.client.zscore('gw:edges', other.identity.id)) > began);
    expect(await redis.client.zscore('gw:edges', 'dead')).toBe(silent);
  });

  test('a charge adopted from a dead edge counts on all edges until it is committed', async () => {
    const ledger = new Ledger(FLOOR + 10n * UNIT);
    const options = { dailyLimit: 10n * UNIT, patience: { ...PATIENCE, queueMs: 250 } };
    const [one, other] = await twoEdges(ledger, options);
    const takeOver = takingOver(one, ledger);
    const commits = [takeOver(10n * UNIT), takeOver(UNIT)];
    const field = `gw:{${one.entry.account.id}}:balance c:${one.identity.id}`;
    const reported = (charges: bigint) =>
      until(async () => BigInt((await redis.open())[field] ?? 0) === charges, { what: 'the report' });
    await reported(11n * UNIT);
    expect(await outcomeOf(other.admit(1))).toBe('insufficient_credits');
    commits[1]!();
    await reported(10n * UNIT);
    ledger.balance += DOLLAR;
    ledger.seq++;
    await other.readAgain();
    expect(await outcomeOf(other.admit(1))).toBe('daily_cap_exceeded');
    commits[0]!();
    await reported(0n);
    expect(await outcomeOf(other.admit(1))).toBe('daily_cap_exceeded');
  });

  test('once the spool of a dead edge is committed, its holds are released at once, and its charges when all edges have read the balances', async () => {
    const ledger = new Ledger(FLOOR + UNIT * 20n);
    const pair = await twoEdges(ledger, { patience: { ...PATIENCE, queueMs: 250 } });
    const fields = async () => deadOf(await redis.open());
    await redis.client.zadd('gw:edges', Date.now(), 'dead');
    await redis.leave(pair[0].entry.account.id, ledger.balance, {
      dead: { holds: UNIT * 100n, charges: UNIT },
    });
    await expect(pair[0].admit(10)).rejects.toMatchObject({ code: 'insufficient_credits' });
    pair[1].identity.notifyCommitted(['dead', 'never-heard-of']);
    const began = Date.now();
    const admitted = await until(() => pair[0].admit(10).catch(() => undefined));
    // The other edge learns of it with its next heartbeat. By itself it would release them after a minute.
    expect(Date.now() - began).toBeLessThan(10_000);
    pair[0].settle(admitted, 0n);
    // When Redis was late, the edge decided by its share: Redis learns of it with the next call.
    await until(async () => {
      const next = await pair[0].admit(1).catch(() => undefined);
      if (next) pair[0].settle(next, 0n);
      return !('h:dead' in (await fields()));
    });
    expect(await fields()).toEqual({ 'c:dead': String(UNIT) });
    // Ten seconds on.
    await redis.client.zincrby('gw:edges', -10_000, 'dead');
    await until(async () => {
      const next = await pair[0].admit(1).catch(() => undefined);
      if (next) pair[0].settle(next, 0n);
      return !('c:dead' in (await fields()));
    });
    expect(await redis.client.zscore('gw:edges', 'never-heard-of')).toBeNull();
  });
});
