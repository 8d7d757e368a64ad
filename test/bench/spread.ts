import { median } from './measure.js';

/** Minimum, median and maximum over the rounds. */
export interface Spread {
  least: number;
  median: number;
  most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { least: sorted[0] ?? Number.NaN, median: median(sorted), most: sorted.at(-1) ?? Number.NaN };
}
