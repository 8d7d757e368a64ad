import { percentile, percentileInterval, rateInterval, seeded } from '../../src/cli/bench/statistics.js';
import { newId } from '../../src/lib/ids.js';
import type { BenchmarkComparisonOutput, BenchmarkOutput } from '../../src/services/nodes/nodes.outputs.js';
import { dataOf, operate } from '../graphql/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { NODE_SECRET, RUN, register, WITH_SECRET } from './support.js';

describe('a comparison of two benchmarks', () => {
  const suite = usePlatform({ env: WITH_SECRET });
  let token: string;
  let node: string;
  beforeAll(async () => {
    token = (await signUpAdmin(suite)).token;
    node = (await register({ url: suite.url, token })).id;
  });

  const submit = async (body: Record<string, unknown> = {}) => {
    const answer = await call<BenchmarkOutput>(suite.url, 'POST', '/api/internal/benchmarks', {
      token: NODE_SECRET,
      body: { node_id: node, ...RUN, ...body },
    });
    return answer.body;
  };
  const compare = async (base: string, other: string, as = token) =>
    call<BenchmarkComparisonOutput>(
      suite.url,
      'GET',
      `/api/admin/benchmarks/compare?base=${base}&other=${other}`,
      { token: as },
    );
  const compared = async (base: Record<string, unknown>, other: Record<string, unknown>) => {
    const [one, two] = [await submit(base), await submit(other)];
    return (await compare(one.id, two.id)).body;
  };
  const around = (measure: string, low: number, high: number) => ({ intervals: [{ measure, low, high }] });
  const verdictOf = ({ measures }: BenchmarkComparisonOutput, name: string) =>
    measures.find(({ measure }) => measure === name)?.verdict;

  test.each([
    ['p95_latency_ms', [890, 910], [700, 880], 'better'],
    ['p95_latency_ms', [890, 910], [911, 950], 'worse'],
    ['p95_latency_ms', [890, 910], [910, 950], 'inconclusive'],
    ['p95_latency_ms', [890, 910], [800, 1_000], 'inconclusive'],
    ['tokens_per_second', [1_200, 1_300], [1_301, 1_400], 'better'],
    ['tokens_per_second', [1_200, 1_300], [1_000, 1_199], 'worse'],
  ] as const)(
    'finds %s within %j and then within %j: %s',
    async (measure, [low, high], [otherLow, otherHigh], verdict) => {
      const result = await compared(around(measure, low, high), around(measure, otherLow, otherHigh));
      expect(verdictOf(result, measure)).toBe(verdict);
    },
  );

  test('is inconclusive if a run has no interval, however far the values are apart', async () => {
    const result = await compared({ p95_latency_ms: 100 }, around('p95_latency_ms', 890, 910));
    expect(result.measures.find(({ measure }) => measure === 'p95_latency_ms')).toEqual({
      measure: 'p95_latency_ms',
      base: 100,
      base_low: null,
      base_high: null,
      other: 900,
      other_low: 890,
      other_high: 910,
      change_pct: 800,
      verdict: 'inconclusive',
    });
  });

  test('computes the interval of errors from their count', async () => {
    expect(verdictOf(await compared({ errors: 0 }, { errors: 3 }), 'error_rate')).toBe('inconclusive');
    expect(verdictOf(await compared({ errors: 0 }, { errors: 50 }), 'error_rate')).toBe('worse');
    expect(verdictOf(await compared({ errors: 500 }, { errors: 50 }), 'error_rate')).toBe('better');
  });

  test("leaves out what one of them hasn't measured, and names settings that differ", async () => {
    const result = await compared({ ttft_p50_ms: 80 }, { concurrency: 16, slo: 'ttft=500ms' });
    expect(result.measures.map(({ measure }) => measure)).toEqual([
      'error_rate',
      'tokens_per_second',
      'p50_latency_ms',
      'p95_latency_ms',
    ]);
    expect(result.differences).toEqual(['concurrency', 'slo']);
  });

  test('is the same over GraphQL', async () => {
    const base = await submit(around('p50_latency_ms', 690, 710));
    const other = await submit({ p50_latency_ms: 600, ...around('p50_latency_ms', 590, 610) });
    const { benchmarkComparison } = await dataOf<{ benchmarkComparison: object }>(
      suite.url,
      `{ benchmarkComparison(base: "${base.id}", other: "${other.id}") { base { id intervals { measure low } }
         differences measures { measure verdict changePct } } }`,
      { token },
    );
    expect(benchmarkComparison).toMatchObject({
      base: { id: base.id, intervals: [{ measure: 'P50_LATENCY_MS', low: 690 }] },
      differences: [],
      measures: expect.arrayContaining([
        { measure: 'P50_LATENCY_MS', verdict: 'BETTER', changePct: -14.29 },
        { measure: 'P95_LATENCY_MS', verdict: 'INCONCLUSIVE', changePct: 0 },
      ]),
    });
    const unknown = `{ benchmarkComparison(base: "${base.id}", other: "x") { differences } }`;
    const answer = await operate(suite.url, unknown, { token });
    expect(answer.body.errors?.map(({ extensions }) => extensions.code)).toEqual(['not_found']);
  });

  test('requires an administrator and existing runs', async () => {
    const { id } = await submit();
    expect((await compare(id, id, (await signUp(suite.url)).token)).status).toBe(403);
    for (const [param, base, other] of [
      ['base', 'x', id],
      ['other', id, newId()],
    ] as const) {
      const { status, body } = await compare(base, other);
      expect([status, body]).toMatchObject([
        404,
        { error: { param, message: expect.stringContaining('no benchmark with this ID') } },
      ]);
    }
    const incomplete = await call<ErrorAnswer>(suite.url, 'GET', `/api/admin/benchmarks/compare?base=${id}`, {
      token,
    });
    expect([incomplete.status, incomplete.body.error.details?.[0]?.field]).toEqual([422, 'other']);
  });

  test.each([
    ['intervals.0.high', [{ measure: 'p95_latency_ms', low: 2, high: 1 }]],
    ['intervals.0.measure', [{ measure: 'beauty', low: 1, high: 2 }]],
    ['intervals.0.low', [{ measure: 'p95_latency_ms', low: -1, high: 2 }]],
  ])('refuses %s', async (field, intervals) => {
    const answer = (await submit({ intervals })) as unknown as ErrorAnswer;
    expect(answer.error.details?.map((detail) => detail.field)).toEqual([field]);
  });
});

describe('the intervals of a benchmark', () => {
  /** How many of 400 samples have an interval that holds the truth. */
  const held = (
    intervalOf: (random: () => number) => { low: number; high: number } | undefined,
    truth: number,
  ) => {
    const random = seeded(7);
    return Array.from({ length: 400 }, () => intervalOf(random)).filter(
      (interval) => interval && interval.low <= truth && truth <= interval.high,
    ).length;
  };
  /** Skewed as latencies are. */
  const latencies = (random: () => number, count: number) =>
    Array.from({ length: count }, () => -Math.log(1 - random()) * 100);

  test.each([
    [0.5, 100],
    [0.95, 200],
    [0.95, 1_000],
  ])('of percentile %f of %i latencies hold the true value in 95 of 100 cases', (share, count) => {
    const truth = -Math.log(1 - share) * 100;
    const hits = held((random) => percentileInterval(latencies(random, count), share), truth);
    expect(hits).toBeGreaterThanOrEqual(400 * 0.92);
    expect(hits).toBeLessThanOrEqual(400 * 0.995);
  });

  test('of a rate contain the true one, although simultaneous requests share their fate', () => {
    const hits = held((random) => {
      const work: { from: number; to: number; amount: number }[] = [];
      for (let from = 0; from < 1_000; from += 5) {
        const pace = 0.5 + random();
        work.push({ from, to: from + 5, amount: pace }, { from, to: from + 5, amount: pace });
      }
      return rateInterval(work, 1_000);
    }, 400);
    expect(hits).toBeGreaterThanOrEqual(400 * 0.92);
  });

  test("are wider if values aren't independent, and missing for too few", () => {
    const values = latencies(seeded(1), 1_000);
    const alone = percentileInterval(values, 0.95)!;
    const shared = percentileInterval(values, 0.95, 100)!;
    expect(shared.high - shared.low).toBeGreaterThan(alone.high - alone.low);
    expect(alone.low).toBeLessThanOrEqual(percentile(values, 0.95));
    expect(percentileInterval(values.slice(0, 70), 0.95)).toBeUndefined();
    expect(percentileInterval([], 0.5)).toBeUndefined();
    expect(
      rateInterval(
        Array.from({ length: 49 }, (_, from) => ({ from, to: from + 1, amount: 1 })),
        50,
      ),
    ).toBeUndefined();
  });
});
