import type { Admission } from '../../../src/inference/limits/limits.js';
import { newId } from '../../../src/lib/ids.js';
import { DOLLAR, type Money } from '../../../src/lib/money.js';
import { type TestClock, testClock } from '../../support/clock.js';
import fc from '../../support/fast-check.js';
import {
  exhaust,
  Ledger,
  type LimitsEdge,
  type LimitsEdgeOptions,
  limitsEdge,
  outcomeOf,
  TestCaller,
  UNIT,
} from '../../support/limits.js';
import { createTestMachine, type TestLink, type TestMachine } from '../../support/machine.js';
import { sized } from '../../support/size.js';
import { until } from '../../support/until.js';

const FLOOR = DOLLAR / 1000n;
const NOON = Date.UTC(2026, 10, 21, 12);
const PER_MINUTE = 100;

/** Decision 0174: what edges of a machine may admit without asking is never beyond a limit, and nobody is refused for it. */
describe('leases of the counting process', () => {
  let clock: TestClock;
  let machine: TestMachine;
  let links: TestLink[];
  let edges: LimitsEdge[];
  let accountId: string;

  async function start(count: number, ledger: Ledger, options: LimitsEdgeOptions = {}, patienceMs?: number) {
    clock = testClock(NOON);
    machine = createTestMachine({ clock, ...(patienceMs && { patienceMs }) });
    accountId = newId();
    const same = { accountId, keyId: newId(), clock, patience: { redisMs: 0, queueMs: 250 }, ...options };
    links = [];
    edges = [];
    for (let nth = 0; nth < count; nth++) {
      links.push(await machine.join());
      edges.push(await limitsEdge(ledger, { ...same, counter: links[nth]! }));
    }
    return edges as [LimitsEdge, LimitsEdge];
  }
  afterEach(async () => {
    for (const edge of edges) await edge.limits.stop();
    machine.counter.stop();
  });
  const leased = () => machine.counter.open(accountId).leased;

  test('admit without the counting process what it has leased, for a moment', async () => {
    const [one] = await start(1, new Ledger(DOLLAR), { requestsPerMinute: PER_MINUTE }, 50);
    await one.admit(1);
    links[0]!.freeze();
    for (let call = 0; call < 10; call++) expect(await outcomeOf(one.admit(1))).toBe('admitted');
    clock.advance(2_000);
    expect(await outcomeOf(one.admit(1))).toBe('service_unavailable');
    links[0]!.thaw();
    await until(() => links[0]!.mayAdmit());
    // The call that waited in vain has had its place.
    expect(await exhaust(one)).toEqual([PER_MINUTE - 12, 'rate_limit_exceeded']);
  });

  test('end when the clock is put back', async () => {
    const [one] = await start(1, new Ledger(DOLLAR), {}, 50);
    await one.admit(1);
    links[0]!.freeze();
    expect(await outcomeOf(one.admit(1))).toBe('admitted');
    clock.advance(-1);
    expect(await outcomeOf(one.admit(1))).toBe('service_unavailable');
    links[0]!.thaw();
  });

  test('are called back before the plan refuses, and count from when they were used', async () => {
    const [one, other] = await start(2, new Ledger(DOLLAR), { requestsPerMinute: PER_MINUTE });
    await one.admit(1);
    expect(leased()).toBeGreaterThan(0n);
    clock.advance(1_000);
    for (let call = 0; call < 5; call++) await one.admit(1);
    clock.advance(1_000);
    expect(await exhaust(other)).toEqual([PER_MINUTE - 6, 'rate_limit_exceeded']);
    expect(leased()).toBe(0n);
    clock.advance(58_000);
    expect(await exhaust(one)).toEqual([1, 'rate_limit_exceeded']);
    clock.advance(1_000);
    expect(await exhaust(other)).toEqual([5, 'rate_limit_exceeded']);
  });

  test('leave a balance to whoever asks for it', async () => {
    const [one, other] = await start(2, new Ledger(FLOOR + 99n * UNIT));
    await one.admit(1);
    expect(leased()).toBeGreaterThan(0n);
    // 98 are left, and a call beyond them is allowed where any is left.
    expect(await exhaust(other)).toEqual([99, 'insufficient_credits']);
    expect(leased()).toBe(0n);
  });

  test('of a killed edge stay held until its end is settled', async () => {
    const [one, other] = await start(2, new Ledger(FLOOR + 999n * UNIT));
    await one.admit(1);
    const gone = leased() / UNIT;
    links[0]!.die();
    await until(() => links[1]!.edges === 1);
    const [admitted, refusal] = await exhaust(other);
    // As does the call that it had open.
    expect([BigInt(admitted), refusal]).toEqual([999n - gone, 'insufficient_credits']);
  });

  test('that are not given back refuse nobody: it is not known whether there is room', async () => {
    const [one, other] = await start(2, new Ledger(DOLLAR), { requestsPerMinute: PER_MINUTE });
    await one.admit(1);
    links[0]!.freeze();
    expect((await exhaust(other))[1]).toBe('service_unavailable');
    links[0]!.thaw();
    await until(() => leased() === 0n);
    expect((await exhaust(other))[1]).toBe('rate_limit_exceeded');
  });

  test('end with the right to admit', async () => {
    const [one] = await start(1, new Ledger(DOLLAR));
    await one.admit(1);
    machine.counter.admit(false);
    await until(() => leased() === 0n);
    expect(await outcomeOf(one.admit(1))).toBe('service_unavailable');
  });

  test('are given back when nobody calls any longer, and by an edge that stops', async () => {
    const [one, other] = await start(2, new Ledger(DOLLAR));
    await one.admit(1);
    clock.advance(2_000);
    await until(() => leased() === 0n);
    await other.admit(1);
    expect(leased()).toBeGreaterThan(0n);
    await other.limits.stop();
    await until(() => leased() === 0n);
  });

  test('decide every sequence of calls as the books say', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ units, cap, perMinute, steps }) => {
        const ledger = new Ledger(FLOOR + UNIT * BigInt(units));
        const dailyLimit = UNIT * BigInt(cap);
        // Whoever fits may have to wait until a settled call is told, however busy this machine is.
        const patience = { redisMs: 0, queueMs: 5_000 };
        await start(2, ledger, { dailyLimit, requestsPerMinute: perMinute, patience });
        await run(ledger, dailyLimit, perMinute, steps);
        for (const edge of edges) await edge.limits.stop();
        await until(() => leased() === 0n);
        machine.counter.stop();
        expect(machine.counter.open(accountId)).toEqual({ holds: 0n, charges: 0n, leased: 0n });
      }),
      { numRuns: sized(30, 400) },
    );
  }, 60_000);

  /** Compares each decision with a model that knows everything. */
  async function run(ledger: Ledger, cap: Money, perMinute: number, steps: Step[]): Promise<void> {
    const open: { edge: LimitsEdge; admission: Admission }[] = [];
    const sum = (amounts: Money[]) => amounts.reduce((a, b) => a + b, 0n);
    let times: number[] = [];
    for (const step of steps) {
      if (step.kind === 'advance') clock.advance(step.ms);
      else if (step.kind === 'flush') edges[step.edge]!.flush();
      else if (step.kind === 'settle' && open.length > 0) {
        const [{ edge, admission }] = open.splice(step.which % open.length, 1) as [(typeof open)[0]];
        edge.settle(admission, (admission.hold * BigInt(step.part)) / 4n);
      } else if (step.kind === 'admit') {
        const taken =
          sum(open.map(({ admission }) => admission.hold)) + sum(edges.flatMap(({ pending }) => pending));
        times = times.filter((time) => time > clock.now() - 60_000);
        const isFree = times.length < perMinute;
        const fits = ledger.balance - taken >= FLOOR && ledger.spend + taken < cap;
        const edge = edges[step.edge]!;
        const caller = new TestCaller();
        const asked = edge.admit(step.units, caller).catch(() => undefined);
        // Who would have to wait leaves.
        const patience = fits ? undefined : setTimeout(() => caller.leave(), 5);
        const admission = await asked;
        clearTimeout(patience);
        expect(admission !== undefined).toBe(fits && isFree);
        if (!admission) continue;
        times.push(clock.now());
        open.push({ edge, admission });
      }
    }
    for (const { edge, admission } of open) edge.settle(admission, 0n);
    for (const edge of edges) edge.flush();
  }
});

type Step =
  | { kind: 'admit'; edge: number; units: number }
  | { kind: 'settle'; which: number; part: number }
  | { kind: 'flush'; edge: number }
  | { kind: 'advance'; ms: number };

const edge = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('admit' as const),
      edge,
      units: fc.integer({ min: 1, max: 8 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), which: fc.nat(20), part: fc.nat(4) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush' as const), edge }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
  },
);

const scenario = fc.record({
  units: fc.integer({ min: 0, max: 400 }),
  cap: fc.integer({ min: 1, max: 400 }),
  perMinute: fc.integer({ min: 1, max: 120 }),
  steps: fc.array(step, { minLength: 20, maxLength: 200, size: 'max' }),
});
