import { lastDays } from '../../lib/clock.js';
import { formatMoney, type Money, parseMoney } from '../../lib/money.js';
import type { AnalyticsOutput } from './analytics.outputs.js';

const TOP_MODELS = 5;
/** Latencies of this many calls or more come from sketches. */
export const SKETCH_FROM = 2_000;
/** Maximum number of an account's events that are read for exact latencies. */
export const MOST_READ = 10_000;

/** Counts of one model on one UTC day. */
export interface DayAndModel {
  /** `YYYY-MM-DD`. */
  day: string;
  model: string;
  requests: number;
  errors: number;
  input_tokens: number;
  output_tokens: number;
  /** Dollars. */
  cost: string;
}

interface Sums {
  requests: number;
  errors: number;
  cost: Money;
}

/** The response except latencies, from the counts of the days up to that of `now` (milliseconds). */
export function summarise(
  counts: readonly DayAndModel[],
  { windowDays, now }: { windowDays: number; now: number },
): Omit<AnalyticsOutput, 'p50_latency_ms' | 'p95_latency_ms'> {
  const total = sumOf(counts);
  const byDay = Map.groupBy(counts, ({ day }) => day);
  const byModel = Map.groupBy(counts, ({ model }) => model);
  const models = [...byModel].map(([model, rows]) => ({ model, ...sumOf(rows) }));
  models.sort((a, b) => b.requests - a.requests || (a.model < b.model ? -1 : 1));
  return {
    window_days: windowDays,
    total_requests: total.requests,
    error_count: total.errors,
    error_rate: total.requests === 0 ? 0 : total.errors / total.requests,
    total_cost_usd: formatMoney(total.cost),
    total_tokens_in: counts.reduce((sum, row) => sum + row.input_tokens, 0),
    total_tokens_out: counts.reduce((sum, row) => sum + row.output_tokens, 0),
    top_models: models.slice(0, TOP_MODELS).map(({ model, requests, cost }) => ({
      model_public_name: model,
      requests,
      cost_usd: formatMoney(cost),
    })),
    daily_breakdown: lastDays(now, windowDays).map((date) => {
      const { requests, errors, cost } = sumOf(byDay.get(date) ?? []);
      return { date, requests, errors, cost_usd: formatMoney(cost) };
    }),
  };
}

function sumOf(rows: readonly DayAndModel[]): Sums {
  const sums = { requests: 0, errors: 0, cost: 0n };
  for (const { requests, errors, cost } of rows) {
    sums.requests += requests;
    sums.errors += errors;
    sums.cost += parseMoney(cost);
  }
  return sums;
}
