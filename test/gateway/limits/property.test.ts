import type { Admission } from '../../../src/inference/limits/limits.js';
import { systemClock } from '../../../src/lib/clock.js';
import { newId } from '../../../src/lib/ids.js';
import { DOLLAR, type Money } from '../../../src/lib/money.js';
import fc from '../../support/fast-check.js';
import { Ledger, type LimitsEdge, limitsEdge, TestCaller, UNIT } from '../../support/limits.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { sized } from '../../support/size.js';
import { until } from '../../support/until.js';

const FLOOR = DOLLAR / 1000n;

type Step =
  | { kind: 'admit'; edge: number; units: number }
  | { kind: 'settle'; which: number; part: number }
  | { kind: 'waive'; which: number }
  | { kind: 'flush'; edge: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('admit' as const),
      edge: fc.nat(1),
      units: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), which: fc.nat(20), part: fc.nat(4) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('waive' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush' as const), edge: fc.nat(1) }) },
);

interface Open {
  edge: LimitsEdge;
  admission: Admission;
}

/**
 * Runs steps and compares each decision with a model that knows all that is committed, charged and held on all edges. A call
 * must be admitted exactly if the model admits it.
 */
async function run(
  edges: LimitsEdge[],
  ledger: Ledger,
  cap: Money,
  steps: Step[],
  arrived: (open: Money) => Promise<void> = async () => undefined,
): Promise<void> {
  const open: Open[] = [];
  const sum = (amounts: Money[]) => amounts.reduce((a, b) => a + b, 0n);
  for (const step of steps) {
    const held = sum(open.map(({ admission }) => admission.hold));
    const charged = sum(edges.flatMap(({ pending }) => pending));
    await arrived(held + charged);
    if (step.kind === 'admit') {
      const edge = edges[step.edge % edges.length]!;
      const fits = ledger.balance - charged - held >= FLOOR && ledger.spend + charged + held < cap;
      const caller = new TestCaller();
      const asked = edge.admit(step.units, caller).catch(() => undefined);
      // Who would have to wait leaves: waiting is another test's matter.
      const patience = fits ? undefined : setTimeout(() => caller.leave(), 5);
      const admission = await asked;
      clearTimeout(patience);
      expect(admission !== undefined).toBe(fits);
      if (admission) open.push({ edge, admission });
    } else if (step.kind === 'flush') {
      edges[step.edge % edges.length]!.flush();
    } else if (open.length > 0) {
      const [{ edge, admission }] = open.splice(step.which % open.length, 1) as [Open];
      const cost = step.kind === 'settle' ? (admission.hold * BigInt(step.part)) / 4n : admission.hold;
      if (step.kind === 'settle') edge.settle(admission, cost);
      else {
        const at = systemClock.now();
        edge.limits.settle(admission, cost, at);
        edge.limits.writeOff(admission, cost, at);
      }
    }
  }
  for (const { edge, admission } of open) edge.settle(admission, 0n);
  for (const edge of edges) edge.flush();
  await arrived(0n);
  for (const { entry } of edges) {
    expect(entry.account).toMatchObject({ holds: 0n, pending: 0n, asking: 0 });
    expect(entry.day).toMatchObject({ holds: 0n, pending: 0n, asked: 0n });
  }
}

const scenario = fc.record({
  units: fc.integer({ min: 0, max: 100 }),
  cap: fc.integer({ min: 1, max: 100 }),
  steps: fc.array(step, { minLength: 5, maxLength: 40 }),
});

test('the only edge decides every sequence of calls as the ledger demands', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ units, cap, steps }) => {
      const ledger = new Ledger(FLOOR + UNIT * BigInt(units));
      const dailyLimit = UNIT * BigInt(cap);
      const edge = await limitsEdge(ledger, { dailyLimit });
      await run([edge], ledger, dailyLimit, steps);
      await edge.limits.stop();
    }),
    { numRuns: sized(60, 150) },
  );
});

describeWithRedis('over Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterAll(() => redis.close());

  async function arrived(accountId: string, expected: Money): Promise<void> {
    const sum = async () => {
      const amounts = Object.entries(await redis.open());
      return amounts.reduce(
        (total, [name, value]) =>
          name.startsWith(`gw:{${accountId}}:balance `) ? total + BigInt(value) : total,
        0n,
      );
    };
    await until(async () => (await sum()) === expected, {
      what: 'Redis to know it',
      intervalMs: 1,
      timeoutMs: 2_000,
    });
  }

  test('two edges decide every sequence of calls as the ledger demands, and nothing stays open', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ units, cap, steps }) => {
        const ledger = new Ledger(FLOOR + UNIT * BigInt(units));
        const dailyLimit = UNIT * BigInt(cap);
        const patience = { redisMs: 5_000, queueMs: 250 };
        const same = { redisUrl: redis.url, accountId: newId(), keyId: newId(), dailyLimit, patience };
        const edges = [await limitsEdge(ledger, same), await limitsEdge(ledger, same)];
        try {
          // Edges don't wait for their reports, so compare only once Redis has got them.
          await run(edges, ledger, dailyLimit, steps, (expected) => arrived(same.accountId, expected));
          expect(await redis.open()).toEqual({});
        } finally {
          for (const edge of edges) await edge.limits.stop();
          await redis.client.flushall();
        }
      }),
      { numRuns: sized(10, 25), endOnFailure: true },
    );
  }, 120_000);
});
