import { setImmediate } from 'node:timers/promises';
import type { Admission } from '../../../src/inference/limits/limits.js';
import type { Payer } from '../../../src/inference/payer.js';
import { utcDay } from '../../../src/lib/clock.js';
import { newId } from '../../../src/lib/ids.js';
import { DOLLAR, type Money } from '../../../src/lib/money.js';
import type { UsageRecord } from '../../../src/metering/usage-record.js';
import fc from '../../support/fast-check.js';
import {
  bodyOf,
  exhaust,
  Ledger,
  type LimitsEdge,
  type LimitsEdgeOptions,
  limitsEdge,
  outcomeOf,
  TestCaller,
  UNIT,
} from '../../support/limits.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { sized } from '../../support/size.js';
import { createTcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';

const FLOOR = DOLLAR / 1000n;
/** What is counted must be exact however busy the machine is. */
const PATIENCE = { redisMs: 10_000, queueMs: 250, beatMs: 100 };
/** Calls that each caller makes in a row. */
const EACH = 3;
/** Redis answers within this. */
const ANSWER_MS = 30;
/** Longer than any test. */
const KEPT = { ...PATIENCE, leaseMs: 60_000 };

/** Decision 0182: leases never admit a call beyond a limit, and never cause a call to be refused below one. */
describeWithRedis('leases over Redis', () => {
  let redis: TestRedis;
  const edges: LimitsEdge[] = [];
  let accountId: string;
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterEach(async () => {
    await stop();
  });
  afterAll(() => redis.close());

  async function stop(): Promise<void> {
    for (const edge of edges.splice(0)) await edge.limits.stop();
    await redis.client.flushall();
  }

  async function start(ledger: Ledger, ...each: LimitsEdgeOptions[]): Promise<LimitsEdge[]> {
    accountId = newId();
    const same = { redisUrl: redis.url, accountId, keyId: newId(), patience: PATIENCE };
    for (const options of each) edges.push(await limitsEdge(ledger, { ...same, ...options }));
    const alive = async ({ registry }: LimitsEdge) =>
      (await registry.getSingleMetric('gateway_edges_alive')!.get()).values[0]!.value;
    await until(async () => (await Promise.all(edges.map(alive))).every((count) => count === each.length), {
      what: 'the edges to know of each other',
    });
    return edges;
  }

  /** What edges may admit without asking: calls and money. */
  async function leased(): Promise<{ calls: number; money: Money }> {
    const parts = (await redis.client.get(`gw:{${accountId}}:balance`))?.matchAll(/\+L (\d+) (\d+)/g) ?? [];
    const all = [...parts];
    return {
      calls: all.reduce((sum, [, calls]) => sum + Number(calls), 0),
      money: all.reduce((sum, [, , money]) => sum + BigInt(money!), 0n),
    };
  }
  const scripts = async (): Promise<number> =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.client.info('commandstats'))?.[1] ?? 0);
  /** So many calls at the same time, which make a lease worth while. */
  const burst = (edge: LimitsEdge, calls = 6): Promise<Admission[]> =>
    Promise.all(Array.from({ length: calls }, () => edge.admit(1)));
  /** Takes calls until there is a lease; how many. */
  async function lease(edge: LimitsEdge): Promise<number> {
    let calls = 0;
    await until(async () => {
      calls += (await burst(edge)).length;
      return (await leased()).calls > 0;
    });
    return calls;
  }

  test('spare most calls of a busy account the question', async () => {
    const [one] = await start(new Ledger(DOLLAR), { patience: KEPT });
    await lease(one!);
    const before = await scripts();
    expect(before).toBeGreaterThan(0);
    for (let round = 0; round < 100; round++) {
      for (const admission of await burst(one!)) one!.settle(admission, 1n);
    }
    expect((await scripts()) - before).toBeLessThan(100);
  });

  test('are not given to whoever calls now and then', async () => {
    const [one] = await start(new Ledger(DOLLAR), {});
    for (let call = 0; call < 3; call++) one!.settle(await one!.admit(1), 0n);
    expect((await leased()).calls).toBe(0);
  });

  test('are given back before the plan refuses', async () => {
    const options = { requestsPerMinute: 100 };
    const [one, other] = await start(new Ledger(DOLLAR), options, options);
    const used = await lease(one!);
    expect(await exhaust(other!)).toEqual([100 - used, 'rate_limit_exceeded']);
    expect(await exhaust(one!)).toEqual([0, 'rate_limit_exceeded']);
    expect(await redis.client.zcard(`gw:{${accountId}}:rate`)).toBe(100);
  });

  test('count each call from when it was admitted', async () => {
    const [one] = await start(new Ledger(DOLLAR), {});
    await lease(one!);
    await burst(one!, 3);
    const by = Date.now();
    await until(async () => (await leased()).calls === 0, { what: 'the lease to be over' });
    const scores = await redis.client.zrange(`gw:{${accountId}}:rate`, -3, -1, 'WITHSCORES');
    expect(scores).toHaveLength(2 * 3);
    // Redis heard of them half a second later.
    for (const score of scores.filter((_, i) => i % 2)) expect(Number(score)).toBeLessThan(by + 250);
  });

  test('leave a balance to whoever asks for it', async () => {
    const [one, other] = await start(new Ledger(FLOOR + 199n * UNIT), {}, {});
    const used = await lease(one!);
    // A call beyond the rest is admitted where any is left.
    expect(await exhaust(other!)).toEqual([200 - used, 'insufficient_credits']);
    expect((await leased()).money).toBe(0n);
  });

  test('leave a daily cap to whoever asks for it', async () => {
    const options = { dailyLimit: 200n * UNIT };
    const [one, other] = await start(new Ledger(DOLLAR), options, options);
    const used = await lease(one!);
    expect(await exhaust(other!)).toEqual([200 - used, 'daily_cap_exceeded']);
  });

  test.each<[string, Money, LimitsEdgeOptions, number, string]>([
    ['a minute', DOLLAR, { requestsPerMinute: 100 }, 100, 'rate_limit_exceeded'],
    ['a balance', FLOOR + 199n * UNIT, {}, 200, 'insufficient_credits'],
    ['a daily cap', DOLLAR, { dailyLimit: 200n * UNIT }, 200, 'daily_cap_exceeded'],
  ])(
    'of %s that are not given back refuse nobody: it is not known whether there is room',
    async (_limit, balance, options, total, code) => {
      const [one, other] = await start(new Ledger(balance), { ...options, patience: KEPT }, options);
      const used = await lease(one!);
      const [taken, refusal] = await exhaust(other!);
      expect(refusal).toBe('service_unavailable');
      const [rest, last] = await exhaust(one!);
      expect(rest).toBeGreaterThan(0);
      expect([used + taken + rest, last]).toEqual([total, code]);
      expect(await exhaust(other!)).toEqual([0, code]);
    },
  );

  test('are asked for by one call of all that wait', async () => {
    const options = { requestsPerMinute: 100 };
    const [one, other] = await start(new Ledger(DOLLAR), { ...options, patience: KEPT }, options);
    await lease(one!);
    const received = async () =>
      Number(/total_net_input_bytes:(\d+)/.exec(await redis.client.info('stats'))?.[1]);
    const before = await received();
    const codes = await Promise.all(Array.from({ length: 500 }, () => outcomeOf(other!.admit(1))));
    expect(codes.filter((code) => code === 'service_unavailable').length).toBeGreaterThan(390);
    // Asked every 20 ms by all of them, it would be ten times as much.
    expect((await received()) - before).toBeLessThan(400_000);
  });

  test('get back no more than a call has left of its hold', async () => {
    const [one, other] = await start(new Ledger(FLOOR + 199n * UNIT), { patience: KEPT }, {});
    const used = await lease(one!);
    const [taken] = await exhaust(other!);
    let spent = used + taken;
    for (let admission = await one!.admit(3); ; admission = await one!.admit(3)) {
      one!.settle(admission, 3n * UNIT);
      spent += 3;
      if (one!.entry.account.available < FLOOR || spent >= 200) break;
    }
    // The last call may go beyond what is left.
    expect(spent).toBeLessThan(203);
    await expect(one!.admit(1)).rejects.toMatchObject({ code: 'insufficient_credits' });
  });

  test('count calls that cost nothing', async () => {
    const options = { requestsPerMinute: 100 };
    const [one, other] = await start(new Ledger(DOLLAR), options, options);
    let used = 0;
    await until(async () => {
      used += (await Promise.all([1, 2, 3, 4, 5].map(() => one!.admit(0)))).length;
      return (await leased()).calls > 0;
    });
    const admitted = await Promise.all(
      Array.from({ length: 100 }, (_, i) => outcomeOf((i % 2 ? one! : other!).admit(0))),
    );
    expect(admitted.filter((code) => code === 'admitted')).toHaveLength(100 - used);
  });

  test('end with their edge', async () => {
    const link = await createTcpProxy(Number(new URL(redis.url).port));
    const [one] = await start(new Ledger(DOLLAR), { redisUrl: link.urlOf(redis.url), patience: KEPT });
    link.delay(30);
    const calls = burst(one!);
    await calls;
    const more = burst(one!, 20);
    const stopped = one!.limits.stop();
    await Promise.allSettled([more, stopped]);
    for (const admission of await calls) one!.settle(admission, 0n);
    expect(await leased()).toEqual({ calls: 0, money: 0n });
    await link.close();
  });

  test('end with their edge when they are still on their way', async () => {
    const link = await createTcpProxy(Number(new URL(redis.url).port));
    const [one] = await start(new Ledger(DOLLAR), { redisUrl: link.urlOf(redis.url), patience: KEPT });
    link.delay(30);
    const calls = burst(one!);
    await until(async () => (await leased()).calls > 0, { intervalMs: 1 });
    await one!.limits.stop();
    expect(await leased()).toEqual({ calls: 0, money: 0n });
    await calls;
    await link.close();
  });

  test('keep no call that is asked for as they arrive', async () => {
    const [one] = await start(new Ledger(DOLLAR), { patience: KEPT });
    const calls = burst(one!);
    // Their question leaves in the second turn. Redis answers before that of another call has left.
    for (let turn = 0; turn < 2; turn++) await setImmediate();
    const end = performance.now() + ANSWER_MS;
    while (performance.now() < end);
    const admission = one!.admit(1);
    await calls;
    let isDecided = false;
    void admission.finally(() => {
      isDecided = true;
    });
    await until(() => isDecided, { timeoutMs: 5_000 });
  });

  test('keep a charge from counting twice against whoever reads the balance before it is told', async () => {
    const ledger = new Ledger(FLOOR + 199n * UNIT);
    const [one, other] = await start(ledger, {}, {});
    one!.settle(await one!.admit(1), 110n * UNIT);
    await until(async () => Object.values(await redis.open()).includes(String(110n * UNIT)));
    await lease(one!);
    one!.flush();
    await other!.readAgain();
    expect(await outcomeOf(other!.admit(1))).toBe('admitted');
  });

  test('keep a charge of another key from counting twice', async () => {
    const [one, other] = (await start(new Ledger(DOLLAR), {}, {})) as [LimitsEdge, LimitsEdge];
    const keyId = newId();
    const [here, there] = [one, other].map(({ entry }) => ({
      ...entry,
      credential: { kind: 'api_key' as const, id: keyId },
      dailyLimit: 100n * UNIT,
    }));
    const ask = (edge: LimitsEdge, payer: Payer) =>
      edge.limits.admit(payer, bodyOf(5), new TestCaller(), 'chat');
    const spend = 60n * UNIT;
    const at = Date.now();
    one.limits.settle(await ask(one, here!), spend, at);
    await until(async () => Object.values(await redis.open()).includes(String(spend)));
    await lease(one);
    const [balance, day] = [DOLLAR - spend, utcDay(at)];
    one.limits.flushed({
      own: [{ accountId, keyId, widgetId: null, cost: spend, createdAt: at }] as unknown as UsageRecord[],
      accounts: [{ id: accountId, balance, seq: 2n }],
      keyDays: [{ keyId, day, spend }],
      alerted: [],
    });
    other.entry.account.observe(balance, 2n);
    other.entry.day.observe(day, spend);
    await expect(ask(other, there!)).resolves.toMatchObject({ held: true });
  });

  test('end with a change of what they were given for', async () => {
    const ledger = new Ledger(DOLLAR);
    // Without heartbeats in between.
    const [one] = await start(ledger, { patience: { ...KEPT, beatMs: 600_000 } });
    for (const change of [
      () => one!.entry.account.window.resize(999_999),
      () => Object.assign(one!.entry, { dailyLimit: DOLLAR }),
      () => one!.entry.account.observe((DOLLAR * 62n) / 64n, ++ledger.seq),
    ]) {
      await lease(one!);
      const before = await scripts();
      await one!.admit(1);
      expect((await scripts()) - before).toBe(0);
      change();
      const unchanged = await redis.client.get(`gw:{${accountId}}:balance`);
      await one!.admit(1);
      expect(await redis.client.get(`gw:{${accountId}}:balance`)).not.toBe(unchanged);
    }
  });

  /** Who waits for room while another has a lease. Undefined if a busy machine had Redis back too late for that. */
  async function waitsForLease(): Promise<string | undefined> {
    await stop();
    // The lease ends after the time in a queue is over, and before that of waiting for leases.
    const patience = { ...PATIENCE, redisMs: 250, queueMs: 1_300 };
    const lessee = { patience: { ...PATIENCE, leaseMs: 1_500 } };
    const [one, other] = await start(new Ledger(FLOOR + 400n * UNIT), lessee, { patience });
    const used = await lease(one!);
    const { money } = await leased();
    await other!.admit(400 - used - Number(money / UNIT));
    // Where nothing is left, one more call may go beyond it.
    await other!.admit(1);
    const figureOf = async (name: string) =>
      (await other!.registry.getSingleMetric(name)!.get()).values[0]!.value;
    redis.freeze();
    const before = await figureOf('gateway_redis_failures_total');
    const began = performance.now();
    // It is decided here that it doesn't fit into this edge's share, and so waits.
    const asked = outcomeOf(other!.admit(3));
    await until(async () => (await figureOf('gateway_redis_failures_total')) > before, { intervalMs: 1 });
    redis.thaw();
    await until(async () => (await figureOf('gateway_limits_shared')) === 1, { intervalMs: 5 });
    const isInTime = performance.now() - began < 1_000;
    const outcome = await asked;
    return isInTime ? outcome : undefined;
  }

  test('let whoever waits for room wait for them, too', async () => {
    expect(await until(waitsForLease)).toBe('admitted');
  });

  test('are for what was so when they were asked for', async () => {
    const link = await createTcpProxy(Number(new URL(redis.url).port));
    const [one] = await start(new Ledger(DOLLAR), { redisUrl: link.urlOf(redis.url), patience: KEPT });
    link.delay(30);
    const asked = burst(one!);
    // The word has left, and its answer has not come.
    await until(async () => (await leased()).calls > 0, { intervalMs: 1 });
    Object.assign(one!.entry, { dailyLimit: DOLLAR });
    await asked;
    const before = await redis.client.get(`gw:{${accountId}}:balance`);
    await one!.admit(1);
    expect(await redis.client.get(`gw:{${accountId}}:balance`)).not.toBe(before);
    await one!.limits.stop();
    await link.close();
  });

  test('of a dead edge count as recorded until its spool is committed', async () => {
    const balance = FLOOR + UNIT * 50n;
    const options = { requestsPerMinute: 100 };
    const [one] = await start(new Ledger(balance), options);
    const died = Date.now() - 20_000;
    await redis.client.zadd('gw:edges', died, 'dead');
    const text = `${balance} 0 ${UNIT * 30n} ${UNIT * 5n} - - -;dead 1 ${UNIT * 10n} ${UNIT * 5n};dead+L 30 ${UNIT * 20n} ${died}`;
    await redis.client.set(`gw:{${accountId}}:balance`, text);
    // Ten that it held, twenty that it might admit, and five that it had recorded.
    const [admitted] = await exhaust(one!);
    expect(admitted).toBe(16);
    // Redis takes over the dead edge's lease at the first call after a heartbeat that reports its death.
    await until(async () => {
      expect(await outcomeOf(one!.admit(1))).toBe('insufficient_credits');
      return (await leased()).calls === 0;
    });
    const [held, charged] = [`gw:{${accountId}}:balance h:dead`, `gw:{${accountId}}:balance c:dead`];
    expect(await redis.open()).toMatchObject({ [held]: String(UNIT * 30n), [charged]: String(UNIT * 5n) });
    const rate = `gw:{${accountId}}:rate`;
    expect(await redis.client.zcard(rate)).toBe(30 + admitted);
    // As late as they could be.
    expect(await redis.client.zcount(rate, 0, died + 2_000)).toBe(30);
    // Its calls in flight must be over: they may all have been recorded.
    await redis.client.zadd('gw:edges', Date.now() - 70_000, 'dead');
    await until(async () => {
      expect(await outcomeOf(one!.admit(1))).toBe('insufficient_credits');
      return (await redis.open())[charged] === String(UNIT * 35n);
    });
    expect(await redis.open()).not.toHaveProperty([held]);
  });

  test('decide every sequence of calls as the books say', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ units, cap, perMinute, steps }) => {
        const ledger = new Ledger(FLOOR + UNIT * BigInt(units));
        const dailyLimit = UNIT * BigInt(cap);
        const patience = { ...PATIENCE, queueMs: 5_000, leaseMs: 20 };
        const options = { dailyLimit, requestsPerMinute: perMinute, patience };
        await start(ledger, options, options);
        await run(ledger, dailyLimit, perMinute, steps);
        await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
        await stop();
      }),
      { numRuns: sized(6, 200), endOnFailure: true },
    );
  }, 240_000);

  test('decide calls at the same time on both edges as the books say, while words are on their way', async () => {
    const links = await Promise.all([1, 2].map(() => createTcpProxy(Number(new URL(redis.url).port))));
    await fc.assert(
      fc.asyncProperty(rush, async ({ units, perMinute, steps }) => {
        const ledger = new Ledger(FLOOR + UNIT * BigInt(units));
        const patience = { ...PATIENCE, queueMs: 5_000, leaseMs: 20 };
        const options = { requestsPerMinute: perMinute, patience };
        const urls = links.map((link) => ({ ...options, redisUrl: link.urlOf(redis.url) }));
        await start(ledger, ...urls);
        for (const [nth, link] of links.entries()) link.delay(3 * nth);
        await rushed(ledger, perMinute, steps);
        for (const link of links) link.restore();
        await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
        await stop();
      }),
      { numRuns: sized(6, 200), endOnFailure: true },
    );
    for (const link of links) await link.close();
  }, 240_000);

  /** Has both edges ask for many equal calls at once, `EACH` in a row, and compares how many are admitted with what there is. */
  async function rushed(ledger: Ledger, perMinute: number, steps: Rush[]): Promise<void> {
    let [admitted, held] = [0, 0n];
    let open: { edge: LimitsEdge; admission: Admission }[] = [];
    for (const { calls, units, settled, part } of steps) {
      const hold = UNIT * BigInt(units);
      const charged = edges.flatMap(({ pending }) => pending).reduce((a, b) => a + b, 0n);
      const left = ledger.balance - FLOOR - held - charged;
      const fit = left < 0n ? 0 : Number(left / hold) + 1;
      const expected = Math.min(2 * calls * EACH, fit, perMinute - admitted);
      const callers: TestCaller[] = [];
      let taken = 0;
      const asked = edges.flatMap((edge) =>
        Array.from({ length: calls }, async (_, nth) => {
          // Not all in one turn of the event loop: several words are under way.
          if (nth % 2) await setImmediate();
          for (let call = 0; call < EACH; call++) {
            const caller = new TestCaller();
            callers.push(caller);
            const admission = await edge.admit(units, caller).catch(() => undefined);
            if (!admission) return;
            taken++;
            open.push({ edge, admission });
          }
        }),
      );
      const all = Promise.all(asked);
      await Promise.race([all, until(() => taken >= expected, { intervalMs: 1 })]);
      // Who would have to wait leaves.
      const patience = setTimeout(() => {
        for (const caller of callers) caller.leave();
      }, 5);
      await all;
      clearTimeout(patience);
      expect(taken).toBe(expected);
      admitted += taken;
      if (taken < callers.length) {
        // A caller that leaves while Redis admits it keeps its place in the minute.
        await until(async () => (await leased()).calls === 0);
        const counted = await redis.client.zcard(`gw:{${accountId}}:rate`);
        expect(counted).toBeGreaterThanOrEqual(admitted);
        admitted = counted;
      }
      for (const { edge, admission } of open.splice(0, settled)) {
        edge.settle(admission, (admission.hold * BigInt(part)) / 4n);
      }
      if (part === 0) for (const edge of edges) edge.flush();
      held = open.reduce((sum, { admission }) => sum + admission.hold, 0n);
    }
    for (const { edge, admission } of open) edge.settle(admission, 0n);
    open = [];
    for (const edge of edges) edge.flush();
  }

  /** Compares each decision with a model that knows everything. */
  async function run(ledger: Ledger, cap: Money, perMinute: number, steps: Step[]): Promise<void> {
    const open: { edge: LimitsEdge; admission: Admission }[] = [];
    const sum = (amounts: Money[]) => amounts.reduce((a, b) => a + b, 0n);
    let admitted = 0;
    for (const step of steps) {
      const edge = edges[step.edge]!;
      if (step.kind === 'flush') edge.flush();
      else if (step.kind === 'read') await edge.readAgain();
      else if (step.kind === 'settle') {
        for (const one of open.splice(0, step.count))
          one.edge.settle(one.admission, (one.admission.hold * BigInt(step.part)) / 4n);
      } else {
        for (let call = 0; call < step.calls; call++) {
          const taken =
            sum(open.map(({ admission }) => admission.hold)) + sum(edges.flatMap(({ pending }) => pending));
          const fits = ledger.balance - taken >= FLOOR && ledger.spend + taken < cap;
          const caller = new TestCaller();
          const asked = edge.admit(step.units, caller).catch(() => undefined);
          // Who would have to wait leaves.
          const patience = fits ? undefined : setTimeout(() => caller.leave(), 5);
          const admission = await asked;
          clearTimeout(patience);
          expect(admission !== undefined).toBe(fits && admitted < perMinute);
          if (!admission) continue;
          admitted++;
          open.push({ edge, admission });
        }
      }
    }
    for (const { edge, admission } of open) edge.settle(admission, 0n);
    for (const edge of edges) edge.flush();
  }
});

type Step =
  | { kind: 'admit'; edge: number; calls: number; units: number }
  | { kind: 'settle'; edge: number; count: number; part: number }
  | { kind: 'flush'; edge: number }
  | { kind: 'read'; edge: number };

const edge = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('admit' as const),
      edge,
      calls: fc.integer({ min: 1, max: 30 }),
      units: fc.integer({ min: 1, max: 8 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      edge,
      count: fc.integer({ min: 1, max: 40 }),
      part: fc.nat(4),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush' as const), edge }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('read' as const), edge }) },
);

const scenario = fc.record({
  // Below five cents: of more, a quarter is kept for edges that lose touch with Redis.
  units: fc.integer({ min: 200, max: 4_900 }),
  cap: fc.integer({ min: 200, max: 4_900 }),
  perMinute: fc.integer({ min: 20, max: 600 }),
  steps: fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }),
});

/** What both edges ask for at once, and what is settled then. */
interface Rush {
  calls: number;
  units: number;
  settled: number;
  part: number;
}

const rush = fc.record({
  units: fc.integer({ min: 200, max: 4_900 }),
  perMinute: fc.integer({ min: 100, max: 600 }),
  steps: fc.array(
    fc.record({
      calls: fc.integer({ min: 1, max: 15 }),
      units: fc.integer({ min: 1, max: 8 }),
      settled: fc.nat(60),
      part: fc.nat(4),
    }),
    { minLength: 5, maxLength: 25, size: 'max' },
  ),
});
