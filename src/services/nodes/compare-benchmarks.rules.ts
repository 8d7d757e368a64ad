import { wilsonInterval } from '../../lib/wilson.js';
import { MEASURES, type Measure } from './nodes.inputs.js';
import type { BenchmarkComparisonOutput, BenchmarkOutput } from './nodes.outputs.js';

const MORE_IS_BETTER: ReadonlySet<Measure> = new Set(['tokens_per_second', 'goodput']);
const HUNDREDTHS = 100;

interface Estimate {
  value: number;
  /** The 95 % interval; null if the run has none. */
  low: number | null;
  high: number | null;
}

type Compared = BenchmarkComparisonOutput['measures'][number];

/** A run's value of a measure; undefined if it wasn't measured. */
function estimateOf(run: BenchmarkOutput, measure: Measure): Estimate | undefined {
  // The interval follows from the counts.
  if (measure === 'error_rate') {
    const errors = Math.min(run.errors, run.total_requests);
    return { value: errors / run.total_requests, ...wilsonInterval(errors, run.total_requests) };
  }
  const value = run[measure];
  if (value === null) return undefined;
  const interval = run.intervals?.find((one) => one.measure === measure);
  return { value, low: interval?.low ?? null, high: interval?.high ?? null };
}

function verdictOn(measure: Measure, base: Estimate, other: Estimate): Compared['verdict'] {
  if (base.low === null || base.high === null || other.low === null || other.high === null)
    return 'inconclusive';
  const isHigher = other.low > base.high;
  const isLower = other.high < base.low;
  if (!isHigher && !isLower) return 'inconclusive';
  return isHigher === MORE_IS_BETTER.has(measure) ? 'better' : 'worse';
}

/** Compares two runs, measure by measure. Only differences between disjoint intervals count. */
export function compareRuns(base: BenchmarkOutput, other: BenchmarkOutput): BenchmarkComparisonOutput {
  const settings = ['model_public_name', 'concurrency', 'slo'] as const;
  const measures = MEASURES.flatMap((measure): Compared[] => {
    const [before, after] = [estimateOf(base, measure), estimateOf(other, measure)];
    if (!before || !after) return [];
    const change = before.value === 0 ? null : (after.value / before.value - 1) * 100;
    return [
      {
        measure,
        base: before.value,
        base_low: before.low,
        base_high: before.high,
        other: after.value,
        other_low: after.low,
        other_high: after.high,
        change_pct: change === null ? null : Math.round(change * HUNDREDTHS) / HUNDREDTHS,
        verdict: verdictOn(measure, before, after),
      },
    ];
  });
  return { base, other, differences: settings.filter((name) => base[name] !== other[name]), measures };
}
