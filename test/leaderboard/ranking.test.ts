import { latencyBounds } from '../../src/lib/latency-sketch.js';
import { quantileInterval, shareInterval } from '../../src/services/leaderboard/intervals.rules.js';
import { type Contender, rank } from '../../src/services/leaderboard/ranking.rules.js';
import fc from '../support/fast-check.js';

/** A model that is known exactly: intervals of no width. */
const exact = (model: string, successRate: number, p95Ms: number, outputPrice: number): Contender => ({
  model,
  successRate,
  success: { low: successRate, high: successRate },
  p95Ms,
  p95: { low: p95Ms, high: p95Ms },
  outputPrice,
});

describe('the ranking', () => {
  test('weighs success rate, latency and price over the cohort', () => {
    const standings = rank([
      exact('a', 1, 1_000, 1.5),
      exact('b', 0.9, 200, 0.3),
      exact('c', 0.95, 600, 0.9),
    ]);
    // a: 0.4·1 + 0.3·0 + 0.3·0; b: 0 + 0.3 + 0.3; c: 0.4·0.5 + 0.3·0.5 + 0.3·0.5.
    expect([...standings]).toEqual([
      ['b', { score: 0.6, rank: 1, tied: false }],
      ['c', { score: 0.5, rank: 2, tied: false }],
      ['a', { score: 0.4, rank: 3, tied: false }],
    ]);
  });

  test('treats values that are equal over the cohort as the best', () => {
    expect(rank([exact('alone', 0.5, 900, 1.5)]).get('alone')).toEqual({ score: 1, rank: 1, tied: false });
    expect(
      [...rank([exact('a', 1, 100, 1), exact('b', 1, 100, 2)]).values()].map(({ score }) => score),
    ).toEqual([1, 0.7]);
    expect(rank([])).toEqual(new Map());
  });

  test('counts a model without a successful call as the slowest, and scales the others without it', () => {
    const standings = rank([
      exact('fast', 1, 100, 1),
      exact('slow', 1, 900, 1),
      { ...exact('silent', 0, 0, 1), p95Ms: null },
    ]);
    expect([...standings].map(([model, { score }]) => [model, score])).toEqual([
      ['fast', 1],
      ['slow', 0.7],
      ['silent', 0.3],
    ]);
    expect(rank([{ ...exact('silent', 0, 0, 1), p95Ms: null }]).get('silent')!.score).toBe(0.7);
  });

  test('shares a rank if intervals overlap that of the first model, and not along a chain', () => {
    const wide = (model: string, successRate: number): Contender => ({
      ...exact(model, successRate, 100, 1),
      success: { low: successRate - 0.06, high: successRate + 0.06 },
    });
    // Normalised over 0.8 to 1: each reaches its neighbour, the third not the first.
    const standings = rank([wide('a', 1), wide('b', 0.9), wide('c', 0.8)]);
    expect([...standings].map(([model, { rank, tied }]) => [model, rank, tied])).toEqual([
      ['a', 1, true],
      ['b', 1, true],
      ['c', 3, false],
    ]);
  });

  test('gives scores from 0 to 1, and ranks in their order', () => {
    const one = fc.record({
      successRate: fc.double({ min: 0, max: 1, noNaN: true }),
      p95Ms: fc.nat(100_000),
      outputPrice: fc.nat(100),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 8 }), (models) => {
        const cohort = models.map(({ successRate, p95Ms, outputPrice }, i) =>
          exact(`m${i}`, successRate, p95Ms, outputPrice),
        );
        const standings = [...rank(cohort).values()];
        expect(standings).toHaveLength(cohort.length);
        for (const { score } of standings) expect(score >= 0 && score <= 1).toBe(true);
        expect(standings.map(({ score }) => score)).toEqual(
          standings.map(({ score }) => score).toSorted((a, b) => b - a),
        );
        expect(standings.map((standing) => standing.rank)).toEqual(
          standings.map((standing) => standing.rank).toSorted((a, b) => a - b),
        );
      }),
    );
  });
});

describe('intervals', () => {
  // Wilson, E. B. (1927); figures computed with R's prop.test(correct = FALSE).
  test.each([
    [95, 100, 0.8882, 0.9785],
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [0, 0, 0, 1],
  ])('of %p in %p is %p to %p', (hits, total, low, high) => {
    const interval = shareInterval(hits, total);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  test('of a percentile contain it and narrow with the number of calls', () => {
    const sketch = (times: number) => [50, 60, 70, 80, 90].map((bucket) => ({ bucket, count: 20 * times }));
    const [few, many] = [quantileInterval(sketch(1), 0.5), quantileInterval(sketch(100), 0.5)];
    expect([few.low, few.high]).toEqual([latencyBounds[59], latencyBounds[79]]);
    expect([many.low, many.high]).toEqual([latencyBounds[69], latencyBounds[69]]);
    expect(quantileInterval([], 0.95)).toEqual({ low: 0, high: 0 });
  });
});
