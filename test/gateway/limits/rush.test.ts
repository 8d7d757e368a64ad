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
  Ledger,
  type LimitsEdge,
  type LimitsEdgeOptions,
  limitsEdge,
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

/** Two edges over Redis admit what fits, and nothing more, in whatever order their reports arrive. */
describeWithRedis('two busy edges', () => {
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

  test('a charge that the other edge reads before it is reported counts once', async () => {
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

  test('every sequence of calls is decided as the ledger demands', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ units, cap, perMinute, steps }) => {
        const ledger = new Ledger(FLOOR + UNIT * BigInt(units));
        const dailyLimit = UNIT * BigInt(cap);
        const patience = { ...PATIENCE, queueMs: 5_000 };
        const options = { dailyLimit, requestsPerMinute: perMinute, patience };
        await start(ledger, options, options);
        await run(ledger, dailyLimit, perMinute, steps);
        await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
        await stop();
      }),
      { numRuns: sized(6, 200), endOnFailure: true },
    );
  }, 240_000);

  test('simultaneous calls are decided as the ledger demands, over slow links too', async () => {
    const links = await Promise.all([1, 2].map(() => createTcpProxy(Number(new URL(redis.url).port))));
    await fc.assert(
      fc.asyncProperty(rush, async ({ units, perMinute, steps }) => {
        const ledger = new Ledger(FLOOR + UNIT * BigInt(units));
        const patience = { ...PATIENCE, queueMs: 5_000 };
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
          // Not all in one turn of the event loop, so that several scripts are under way.
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
