import { formatTimestamp, HOUR_MS, hourStart } from '../../lib/clock.js';
import { type BucketCount, latencyQuantile, valueOfBucket } from '../../lib/latency-sketch.js';
import { formatDecimal } from '../../lib/money.js';
import { quantileInterval, shareInterval } from './intervals.rules.js';
import type { LeaderboardEntryOutput, LeaderboardRowOutput, ModelHourOutput } from './leaderboard.outputs.js';
import type { HourOfModel, ModelAccounts, ModelTotals, SketchName } from './model-hours.store.js';
import type { Contender, Standing } from './ranking.rules.js';

/** A model of the catalog. */
export interface RankedModel {
  publicName: string;
  family: string;
  contextWindow: number;
  isFeatured: boolean;
  inputPricePerMillionUsd: string;
  outputPricePerMillionUsd: string;
}

/** All figures of a model in a window. */
export interface ModelFigures {
  model: RankedModel;
  totals: ModelTotals;
  accounts: Omit<ModelAccounts, 'model'>;
  sketches: Record<SketchName, BucketCount[]>;
}

/** The figures of a model without calls, or with too few accounts to show. */
export const emptyFigures = (model: RankedModel): ModelFigures => ({
  model,
  totals: {
    model: model.publicName,
    successes: 0,
    errors: 0,
    rate_limited: 0,
    input_tokens: 0,
    output_tokens: 0,
    cost: '0',
    success_tokens: 0,
    success_ms: 0,
  },
  accounts: { accounts: 0, largest_share: 0 },
  sketches: { latency: [], ttft: [], input: [], output: [] },
});

const requestsOf = ({ totals }: ModelFigures): number => totals.successes + totals.errors;
const successRateOf = (figures: ModelFigures): number =>
  requestsOf(figures) === 0 ? 0 : figures.totals.successes / requestsOf(figures);

/** A model with fewer requests in the window isn't ranked. */
const LEAST_REQUESTS = 100;
const Q = 0.95;

/** Whether a model is ranked: enough calls, of enough accounts. */
export const isRanked = (figures: ModelFigures, leastAccounts: number): boolean =>
  requestsOf(figures) >= LEAST_REQUESTS && figures.accounts.accounts >= leastAccounts;

/** The inputs of the ranking. */
export const contender = (figures: ModelFigures): Contender => ({
  model: figures.model.publicName,
  successRate: successRateOf(figures),
  success: shareInterval(figures.totals.successes, requestsOf(figures)),
  p95Ms: figures.totals.successes === 0 ? null : latencyQuantile(figures.sketches.latency, Q),
  p95: quantileInterval(figures.sketches.latency, Q),
  outputPrice: Number(figures.model.outputPricePerMillionUsd),
});

/** A model's entry on the leaderboard; without a standing it is unranked. */
export function entryOf(figures: ModelFigures, standing: Standing | undefined): LeaderboardEntryOutput {
  const { model, totals, accounts, sketches } = figures;
  const requests = requestsOf(figures);
  const { success, p95 } = contender(figures);
  const median = (name: SketchName): number | null =>
    sketches[name].length === 0 ? null : latencyQuantile(sketches[name], 0.5);
  return {
    model_public_name: model.publicName,
    family: model.family,
    context_window: model.contextWindow,
    is_featured: model.isFeatured,
    requests,
    success_rate: successRateOf(figures),
    success_rate_low: success.low,
    success_rate_high: success.high,
    error_rate: requests === 0 ? 0 : totals.errors / requests,
    rate_limited_share: requests === 0 ? 0 : totals.rate_limited / requests,
    p50_latency_ms: latencyQuantile(sketches.latency, 0.5),
    p95_latency_ms: latencyQuantile(sketches.latency, Q),
    p95_low_ms: p95.low,
    p95_high_ms: p95.high,
    p50_ttft_ms: median('ttft'),
    output_tokens_per_second:
      totals.success_ms === 0 ? null : (totals.success_tokens * 1000) / totals.success_ms,
    median_tokens_in: median('input'),
    median_tokens_out: median('output'),
    total_tokens_in: totals.input_tokens,
    total_tokens_out: totals.output_tokens,
    total_cost_usd: formatDecimal(totals.cost),
    input_price_per_million_usd: formatDecimal(model.inputPricePerMillionUsd),
    output_price_per_million_usd: formatDecimal(model.outputPricePerMillionUsd),
    ranking_score: standing?.score ?? null,
    rank: standing?.rank ?? null,
    rank_tied: standing?.tied ?? false,
    one_account_dominates: accounts.largest_share > 0.5,
  };
}

const pointsOf = (sketch: readonly BucketCount[]): LeaderboardRowOutput['latency_ms'] =>
  sketch
    .toSorted((a, b) => a.bucket - b.bucket)
    .map(({ bucket, count }) => ({ value: valueOfBucket(bucket), count }));

/** The figures from which a model's entry is computed. */
export const rowOf = ({
  model,
  totals,
  sketches,
}: ModelFigures): Omit<LeaderboardRowOutput, 'window_days' | 'generated_at'> => ({
  model_public_name: model.publicName,
  successes: totals.successes,
  errors: totals.errors,
  rate_limited: totals.rate_limited,
  tokens_in: totals.input_tokens,
  tokens_out: totals.output_tokens,
  success_tokens_out: totals.success_tokens,
  success_latency_ms: totals.success_ms,
  input_price_per_million_usd: formatDecimal(model.inputPricePerMillionUsd),
  output_price_per_million_usd: formatDecimal(model.outputPricePerMillionUsd),
  latency_ms: pointsOf(sketches.latency),
  ttft_ms: pointsOf(sketches.ttft),
  input_tokens: pointsOf(sketches.input),
  output_tokens: pointsOf(sketches.output),
});

export const BREAKDOWN_HOURS = 168;

/** First hour of a breakdown; the last is the current one. */
export const breakdownStart = (now: number): number => hourStart(now) - (BREAKDOWN_HOURS - 1) * HOUR_MS;

/** The last 168 hours, oldest first; hours without calls have 0. */
export function hourlyBreakdown(hours: readonly HourOfModel[], now: number): ModelHourOutput[] {
  const known = new Map(hours.map((hour) => [hour.hour_ms, hour]));
  return Array.from({ length: BREAKDOWN_HOURS }, (_, i) => {
    const start = breakdownStart(now) + i * HOUR_MS;
    const hour = known.get(start);
    const sketch = (hour?.latency_buckets ?? []).map((bucket, at) => ({
      bucket,
      count: hour!.latency_counts[at]!,
    }));
    return {
      hour: formatTimestamp(start),
      requests: (hour?.successes ?? 0) + (hour?.errors ?? 0),
      errors: hour?.errors ?? 0,
      p50_latency_ms: latencyQuantile(sketch, 0.5),
      p95_latency_ms: latencyQuantile(sketch, Q),
      tokens_in: hour?.input_tokens ?? 0,
      tokens_out: hour?.output_tokens ?? 0,
    };
  });
}
