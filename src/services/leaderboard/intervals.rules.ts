import { type BucketCount, countOf, valueAtRank } from '../../lib/latency-sketch.js';

/** Normal quantile of a 95 % interval. */
const Z = 1.959963984540054;

/** Lower and upper bound. */
export interface Interval {
  low: number;
  high: number;
}

/** Wilson's 95 % interval of a share; 0 to 1 for a total of 0. */
export function shareInterval(hits: number, total: number): Interval {
  if (total === 0) return { low: 0, high: 1 };
  const share = hits / total;
  const square = (Z * Z) / total;
  const middle = (share + square / 2) / (1 + square);
  const half = (Z * Math.sqrt((share * (1 - share)) / total + square / (4 * total))) / (1 + square);
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** 95 % interval of a quantile by order statistics: the values at its bounding ranks. */
export function quantileInterval(sketch: readonly BucketCount[], q: number): Interval {
  const total = countOf(sketch);
  if (total === 0) return { low: 0, high: 0 };
  const half = Z * Math.sqrt(total * q * (1 - q));
  return {
    low: valueAtRank(sketch, Math.max(1, Math.floor(total * q - half))),
    high: valueAtRank(sketch, Math.min(total, Math.ceil(total * q + half) + 1)),
  };
}
