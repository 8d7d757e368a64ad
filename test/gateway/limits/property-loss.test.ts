import type { Admission } from '../../../src/inference/limits/limits.js';
import { DOLLAR, type Money } from '../../../src/lib/money.js';
import fc from '../../support/fast-check.js';
import { Ledger, TestCaller, UNIT } from '../../support/limits.js';
import { type LossyEdge, lossyEdges } from '../../support/lossy-edges.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { sized } from '../../support/size.js';

const FLOOR = DOLLAR / 1000n;
const CALL = 2_000;

type Step =
  | { kind: 'admit'; edge: number; units: number }
  | { kind: 'drain' | 'burst'; edge: number }
  | { kind: 'settle'; count: number; part: number }
  | { kind: 'flush' | 'read' | 'lose'; edge: number }
  | { kind: 'regain'; edges: number }
  | { kind: 'top-up'; units: number };

const edge = fc.nat(2);
const on = <K extends Step['kind']>(
  weight: number,
  kind: K,
  fields: Record<string, fc.Arbitrary<number>>,
) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), ...fields }) as unknown as fc.Arbitrary<Step>,
});
const step = fc.oneof(
  on(3, 'admit', { edge, units: fc.integer({ min: 1, max: 3 * CALL }) }),
  on(4, 'drain', { edge }),
  on(4, 'burst', { edge }),
  on(4, 'settle', { count: fc.integer({ min: 1, max: 30 }), part: fc.integer({ min: 0, max: 4 }) }),
  on(3, 'flush', { edge }),
  on(1, 'read', { edge }),
  on(3, 'lose', { edge }),
  on(2, 'regain', { edges: fc.integer({ min: 1, max: 7 }) }),
  on(1, 'top-up', { units: fc.integer({ min: 1, max: 50_000 }) }),
);

interface Open {
  edge: LossyEdge;
  admission: Admission;
}

/** Runs steps, and checks after each that all but one of the open calls can be paid. */
class Run {
  readonly #open: Open[] = [];
  readonly #lost = new Set<LossyEdge>();
  #dearest: Money = 0n;

  constructor(
    private readonly edges: LossyEdge[],
    private readonly ledger: Ledger,
  ) {}

  async all(steps: Step[]): Promise<void> {
    for (const one of steps) {
      await this.#do(one);
      this.#check();
    }
    await this.#regain(this.edges);
    this.#settle(this.#open.length, 4);
    for (const each of this.edges) each.flush();
    this.#check();
  }

  async #do(one: Step): Promise<void> {
    const { ledger } = this;
    if (one.kind === 'settle') return this.#settle(one.count, one.part);
    if (one.kind === 'regain') return this.#regain(this.edges.filter((_, i) => one.edges & (1 << i)));
    if (one.kind === 'top-up') {
      ledger.balance += UNIT * BigInt(one.units);
      ledger.seq++;
      return;
    }
    const at = this.edges[one.edge % this.edges.length]!;
    switch (one.kind) {
      case 'admit':
        return void (await this.#admit(at, one.units));
      case 'drain':
        while (await this.#admit(at, CALL));
        return;
      case 'burst':
        for (let call = 0; call < 12; call++) await this.#admit(at, 20);
        return;
      case 'flush':
        return at.flush();
      case 'read':
        return at.readAgain();
      default:
        if (this.#lost.has(at)) return;
        this.#lost.add(at);
        return at.lose();
    }
  }

  async #admit(at: LossyEdge, units: number): Promise<boolean> {
    const caller = new TestCaller();
    const admission = await at.admit(units, caller).catch(() => undefined);
    if (!admission) return false;
    this.#open.push({ edge: at, admission });
    if (admission.hold > this.#dearest) this.#dearest = admission.hold;
    return true;
  }

  #settle(count: number, part: number): void {
    for (const open of this.#open.splice(0, count))
      open.edge.settle(open.admission, (open.admission.hold * BigInt(part)) / 4n);
  }

  async #regain(edges: LossyEdge[]): Promise<void> {
    const back = edges.filter((each) => this.#lost.delete(each));
    await Promise.all(back.map((each) => each.regain()));
  }

  #check(): void {
    const held = this.#open.reduce((sum, { admission }) => sum + admission.hold, 0n);
    const charged = this.edges.flatMap(({ pending }) => pending).reduce((sum, cost) => sum + cost, 0n);
    expect(this.ledger.balance - charged - held).toBeGreaterThanOrEqual(FLOOR - this.#dearest);
  }
}

const scenario = fc.record({
  edges: fc.integer({ min: 2, max: 3 }),
  units: fc.integer({ min: 0, max: 100_000 }),
  steps: fc.array(step, { minLength: 10, maxLength: 40 }),
});

describeWithRedis('edges that each lose Redis at any time', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterAll(() => redis.close());

  test('all edges together overspend by one call at most, whatever they hold, charge and commit', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ edges: count, units, steps }) => {
        const ledger = new Ledger(FLOOR + UNIT * BigInt(units));
        const edges = await lossyEdges(count, redis, ledger);
        try {
          await new Run(edges, ledger).all(steps);
        } finally {
          await Promise.all(edges.map((each) => each.close()));
          await redis.client.flushall();
        }
      }),
      { numRuns: sized(10, 100), endOnFailure: true },
    );
  }, 600_000);
});
