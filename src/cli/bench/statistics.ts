/** The nearest-rank percentile of the values; 0 without values. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

/** Rounds to three decimals. */
export const rounded = (value: number): number => Math.round(value * 1000) / 1000;

/** Random numbers in [0, 1), the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A 95 % confidence interval. */
export interface SampleInterval {
  low: number;
  high: number;
}

/** The 97.5 % quantile of the normal distribution. */
const Z = 1.959963984540054;

/**
 * The confidence interval of a percentile, from its possible ranks in the sample, for any distribution. `independent` is the
 * number of independent values: for gaps between tokens, the number of requests. Undefined if they are too few.
 */
export function percentileInterval(
  values: readonly number[],
  share: number,
  independent = values.length,
): SampleInterval | undefined {
  const spread = Z * Math.sqrt((share * (1 - share)) / Math.max(1, independent));
  const low = Math.floor((share - spread) * values.length);
  const high = Math.ceil((share + spread) * values.length) + 1;
  if (low < 1 || high > values.length) return undefined;
  const sorted = Float64Array.from(values).sort();
  return { low: sorted[low - 1]!, high: sorted[high - 1]! };
}

/** An amount of work and its time in milliseconds: the tokens of a request, or 1 for a request that met the objective. */
export interface SampledWork {
  from: number;
  to: number;
  amount: number;
}

const SLICES = 10;
/** Student's t for ten slices, 97.5 %. */
const T = 2.262157162798205;
/** With fewer requests, slices would be almost empty. */
const LEAST = 50;

/**
 * The confidence interval of a rate per second, from its variation between ten equal parts of the run. Requests at the same
 * moment aren't independent of each other, so they can't count one by one. Undefined for too little work.
 */
export function rateInterval(work: readonly SampledWork[], durationMs: number): SampleInterval | undefined {
  if (work.length < LEAST) return undefined;
  const sliceMs = durationMs / SLICES;
  const amounts = new Array<number>(SLICES).fill(0);
  for (const { from, to, amount } of work) {
    for (let slice = 0; slice < SLICES; slice++) {
      const shared = Math.min(to, (slice + 1) * sliceMs) - Math.max(from, slice * sliceMs);
      if (shared > 0) amounts[slice]! += (amount * shared) / (to - from);
    }
  }
  const rates = amounts.map((amount) => (amount / sliceMs) * 1000);
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / SLICES;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / (SLICES - 1);
  const margin = T * Math.sqrt(variance / SLICES);
  return { low: Math.max(0, mean - margin), high: mean + margin };
}
