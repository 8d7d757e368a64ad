/**
 * Counts of latencies in fixed buckets, which merge by addition. Below 99 ms a bucket is one millisecond wide, so percentiles are exact;
 * above, the middle of a bucket is within 1 % of every value in it. All bounds are whole numbers: the database sorts events into the
 * same buckets.
 */

/** The largest latency that the database holds. */
const MAX_LATENCY_MS = 2 ** 31 - 1;
/** The relative error is one in this many. */
const PERCENT = 100;

const middleOf = (lowestMs: number): number => lowestMs + Math.floor(lowestMs / PERCENT);

/** Lowest latency of each bucket in milliseconds, ascending from 0. Buckets are numbered from 1. */
export const latencyBounds: readonly number[] = buildBounds();

function buildBounds(): number[] {
  const bounds: number[] = [];
  for (let lowest = 0; lowest <= MAX_LATENCY_MS; ) {
    bounds.push(lowest);
    lowest = Math.floor((middleOf(lowest) * PERCENT) / (PERCENT - 1)) + 1;
  }
  return bounds;
}

export interface BucketCount {
  /** From 1. */
  bucket: number;
  count: number;
}

/** The middle of a bucket, which percentiles report for all values in it. */
export const valueOfBucket = (bucket: number): number => middleOf(latencyBounds[bucket - 1]!);

/** Number of values in a sketch. */
export const countOf = (sketch: readonly BucketCount[]): number =>
  sketch.reduce((sum, { count }) => sum + count, 0);

/** The value at a rank, from 1, in ascending order and within 1 %; 0 if there are fewer values. */
export function valueAtRank(sketch: readonly BucketCount[], rank: number): number {
  let upToHere = 0;
  for (const { bucket, count } of [...sketch].sort((a, b) => a.bucket - b.bucket)) {
    upToHere += count;
    if (upToHere >= rank) return valueOfBucket(bucket);
  }
  return 0;
}

/**
 * The value at or below which the fraction `q` (above 0, at most 1) of all latencies lies, by nearest rank and within 1 %; 0 for an
 * empty sketch. A bucket may occur several times: concatenate sketches to merge them.
 */
export const latencyQuantile = (sketch: readonly BucketCount[], q: number): number =>
  valueAtRank(sketch, Math.ceil(q * countOf(sketch)));
