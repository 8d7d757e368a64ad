import { type BucketCount, latencyBounds, latencyQuantile } from '../../src/lib/latency-sketch.js';

const RUNS = 200;
const QUANTILES = [0.01, 0.5, 0.9, 0.95, 0.99, 1];

/** A seeded generator (mulberry32), so that a failure can be reproduced. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One entry per latency, unsorted. */
const sketchOf = (latencies: readonly number[]): BucketCount[] =>
  latencies.map((latency) => ({
    bucket: latencyBounds.findLastIndex((low) => low <= latency) + 1,
    count: 1,
  }));

const exact = (latencies: readonly number[], q: number): number =>
  [...latencies].sort((a, b) => a - b)[Math.ceil(q * latencies.length) - 1]!;

describe('the latency sketch', () => {
  test('has few enough buckets for a small integer, and covers all latencies of the database', () => {
    expect(latencyBounds[0]).toBe(0);
    expect(latencyBounds.length).toBeLessThan(1_000);
    expect(latencyBounds.at(-1)!).toBeLessThan(2 ** 31);
  });

  test('is within 1 % of the exact percentile, for latencies of every magnitude', () => {
    for (let seed = 1; seed <= RUNS; seed++) {
      const random = randomFrom(seed);
      const magnitude = random() * 31;
      const latencies = Array.from({ length: 1 + Math.floor(random() * 200) }, () =>
        Math.min(2 ** 31 - 1, Math.floor(2 ** (random() * magnitude))),
      );
      for (const q of QUANTILES) {
        const truth = exact(latencies, q);
        const estimate = latencyQuantile(sketchOf(latencies), q);
        expect({ seed, q, truth, estimate, close: Math.abs(estimate - truth) <= truth / 100 }).toMatchObject({
          close: true,
        });
      }
    }
  });

  test('is within 1 % at both edges of every bucket', () => {
    for (const [index, low] of latencyBounds.entries()) {
      const high = (latencyBounds[index + 1] ?? 2 ** 31) - 1;
      const estimate = latencyQuantile([{ bucket: index + 1, count: 1 }], 0.5);
      expect(estimate - low).toBeLessThanOrEqual(low / 100);
      expect(high - estimate).toBeLessThanOrEqual(high / 100);
    }
  });

  test('merges by concatenation', () => {
    const random = randomFrom(7);
    const [a, b] = [1, 2].map(() => Array.from({ length: 500 }, () => Math.floor(random() * 60_000)));
    for (const q of QUANTILES) {
      expect(latencyQuantile([...sketchOf(a!), ...sketchOf(b!)], q)).toBe(
        latencyQuantile(sketchOf([...a!, ...b!]), q),
      );
    }
  });

  test('returns 0 if it is empty', () => {
    expect(latencyQuantile([], 0.5)).toBe(0);
  });
});
