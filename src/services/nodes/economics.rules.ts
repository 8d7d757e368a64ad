import { type BucketCount, countOf, latencyQuantile } from '../../lib/latency-sketch.js';
import type { Money } from '../../lib/money.js';

const HOUR_MS = 3_600_000n;
/** Bands are single numbers up to 8 calls, then a quarter of an octave. */
const SINGLE = 8;
const STEPS = 4;
const MOST_CALLS = 1_048_576;
const HUNDREDTHS = 100n;
/** With fewer calls, the 95th percentile says nothing. */
const LEAST_CALLS = 20;
const P95 = 0.95;

/** Smallest number of concurrent calls of each band, ascending. Bands are numbered from 1. */
export const CALL_BOUNDS: readonly number[] = buildBounds();

function buildBounds(): number[] {
  const bounds = Array.from({ length: SINGLE - 1 }, (_, index) => index + 1);
  for (let octave = SINGLE; octave <= MOST_CALLS; octave *= 2) {
    for (let step = 0; step < STEPS; step++) bounds.push(octave + (step * octave) / STEPS);
  }
  return bounds;
}

/** The band of a number of concurrent calls. */
export const bandOf = (calls: number): number => CALL_BOUNDS.findLastIndex((least) => least <= calls) + 1;

/** The smallest and largest number of concurrent calls of a band. */
export const callRange = (band: number): { from: number; to: number } => ({
  from: CALL_BOUNDS[band - 1]!,
  to: (CALL_BOUNDS[band] ?? Number.POSITIVE_INFINITY) - 1,
});

/** Revenue and cost of a node in a period. */
export interface Earnings {
  hourlyCost: Money;
  revenue: Money;
  /** How long the node existed in the period. */
  ms: number;
  /** Sum of its calls' latencies. */
  busyMs: number;
}

/** A node's revenue minus its cost, in total and per hour. */
export function marginOf({ hourlyCost, revenue, ms }: Earnings) {
  const time = BigInt(Math.max(1, Math.round(ms)));
  const cost = (hourlyCost * time) / HOUR_MS;
  const revenuePerHour = (revenue * HOUR_MS) / time;
  return { cost, margin: revenue - cost, revenuePerHour, marginPerHour: revenuePerHour - hourlyCost };
}

/**
 * The average number of concurrent calls at which revenue covers the cost, at the period's prices, answers and
 * latencies; in hundredths, rounded up. Null without revenue.
 */
export function breakEvenOf({ hourlyCost, revenue, busyMs }: Earnings): number | null {
  if (revenue <= 0n) return null;
  const earned = revenue * HOUR_MS;
  const needed = hourlyCost * BigInt(Math.round(busyMs)) * HUNDREDTHS;
  return Number((needed + earned - 1n) / earned) / Number(HUNDREDTHS);
}

/** Average number of concurrent calls, in thousandths. */
export const averageCalls = ({ busyMs, ms }: Earnings): number =>
  Math.round((busyMs / Math.max(1, ms)) * 1000) / 1000;

/** The 95th percentile of latencies; null for too few calls. */
export const p95Of = (sketch: readonly BucketCount[]): number | null =>
  countOf(sketch) < LEAST_CALLS ? null : latencyQuantile(sketch, P95);
