import { type BucketCount, latencyBounds, latencyQuantile } from '../../src/lib/latency-sketch.js';

const EVENTS = 100_000;
const HOURS = 720;

/** Numbers from 0 to 1 that are the same in each run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Shapes of latencies: a model's usual one, two models behind one name, and a few calls that take minutes. */
const SHAPES: [string, (random: () => number) => number][] = [
  ['log-normal', (random) => Math.exp(6.5 + 0.9 * normal(random))],
  ['two peaks', (random) => (random() < 0.7 ? 180 + 12 * normal(random) : 4_000 + 300 * normal(random))],
  ['a heavy tail', (random) => 40 / (1 - random()) ** (1 / 1.1)],
];

/** As `width_bucket` of PostgreSQL: how many bounds are at or below the value. */
function bucketOf(value: number): number {
  let low = 0;
  let high = latencyBounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (latencyBounds[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

describe('percentiles from the merged sketches of 720 hours', () => {
  test.each(SHAPES)('are within 1 %% of those of 100,000 events: %s', (_name, shape) => {
    const random = generator(20_261_121);
    const values = new Float64Array(EVENTS);
    const hours = Array.from({ length: HOURS }, () => new Map<number, number>());
    for (let i = 0; i < EVENTS; i++) {
      const value = Math.min(2 ** 31 - 1, Math.max(0, Math.round(shape(random))));
      values[i] = value;
      // Busy hours and quiet ones: an average of their percentiles would be far off.
      const hour = hours[Math.floor(random() ** 3 * HOURS)]!;
      const bucket = bucketOf(value);
      hour.set(bucket, (hour.get(bucket) ?? 0) + 1);
    }
    values.sort();
    const merged: BucketCount[] = hours.flatMap((hour) =>
      [...hour].map(([bucket, count]) => ({ bucket, count })),
    );
    for (const q of [0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1]) {
      const exact = values[Math.ceil(q * EVENTS) - 1]!;
      expect(Math.abs(latencyQuantile(merged, q) - exact) / exact).toBeLessThanOrEqual(0.01);
    }
  });
});
