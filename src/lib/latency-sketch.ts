/**
 * Counts of latencies in fixed buckets, which merge by addition. A bucket's middle is within 1 % of everything in it,
 * and below 99 ms a bucket is one millisecond, so that a percentile is exact there and within 1 % elsewhere.
 * All of it in whole numbers: the database sorts events into the same buckets by the same bounds.
 */

/** The largest latency that the database holds. */
const MAX_LATENCY_MS = 2 ** 31 - 1;
/** Parts of a hundred: the relative error. */
const PERCENT = 100;

const middleOf = (lowestMs: number): number => lowestMs + Math.floor(lowestMs / PERCENT);

/** The lowest latency of each bucket in milliseconds, ascending from 0. Buckets are numbered from 1. */
export const latencyBounds: readonly number[] = buildBounds();

function buildBounds(): number[] {
  const bounds: number[] = [];
  for (let lowest = 0; lowest <= MAX_LATENCY_MS; ) {
    bounds.push(lowest);
    lowest = Math.floor((middleOf(lowest) * PERCENT) / (PERCENT - 1)) + 1;
  }
  return bounds;
}

/** How many latencies fell into a bucket. */
export interface BucketCount {
  /** From 1. */
  bucket: number;
  count: number;
}

/** What percentiles say of a value in a bucket: its middle. */
export const valueOfBucket = (bucket: number): number => middleOf(latencyBounds[bucket - 1]!);

/** How many values there are. */
export const countOf = (sketch: readonly BucketCount[]): number =>
  sketch.reduce((sum, { count }) => sum + count, 0);

/** The value at a rank, from 1, in ascending order and within 1 %; 0 where there are fewer. */
export function valueAtRank(sketch: readonly BucketCount[], rank: number): number {
  let upToHere = 0;
  for (const { bucket, count } of [...sketch].sort((a, b) => a.bucket - b.bucket)) {
    upToHere += count;
    if (upToHere >= rank) return valueOfBucket(bucket);
  }
  return 0;
}

/**
 * The value at or below which the fraction `q` (above 0, at most 1) of all latencies lies, by nearest rank and within
 * 1 %; 0 where there are none. A bucket may come several times: sketches are merged by putting them together.
 */
export const latencyQuantile = (sketch: readonly BucketCount[], q: number): number =>
  valueAtRank(sketch, Math.ceil(q * countOf(sketch)));
