import { z } from 'zod';
import { count, decimal, timestamp } from '../../lib/output-fields.js';

const WITHIN = 'within 1%';
export const figuresAt = timestamp(
  'Time of the figures. If it is two hours ago or more, later calls are not counted yet.',
);

const entry = z.object({
  model_public_name: z.string().describe('Public model name.'),
  family: z.string().describe('Model family.'),
  context_window: z.int().describe('Context window, in tokens.'),
  is_featured: z.boolean().describe('Whether the model is featured.'),
  requests: count('Calls that succeeded or failed in the window.'),
  success_rate: z.number().describe('Share of calls that succeeded, 0 to 1.'),
  success_rate_low: z
    .number()
    .describe('Lower bound of the 95% confidence interval (Wilson) of the success rate.'),
  success_rate_high: z
    .number()
    .describe('Upper bound of the 95% confidence interval (Wilson) of the success rate.'),
  error_rate: z.number().describe('Share of calls that failed, 0 to 1.'),
  rate_limited_share: z
    .number()
    .describe(
      'Share of calls that failed with `upstream_unavailable`, 0 to 1: every node was rate limited or unavailable. They count as errors.',
    ),
  p50_latency_ms: z.int().describe(`Median latency of successful calls in milliseconds, ${WITHIN}.`),
  p95_latency_ms: z
    .int()
    .describe(`95th percentile of the latency of successful calls in milliseconds, ${WITHIN}.`),
  p95_low_ms: z
    .int()
    .describe('Lower bound of the 95% confidence interval of that percentile, in milliseconds.'),
  p95_high_ms: z
    .int()
    .describe('Upper bound of the 95% confidence interval of that percentile, in milliseconds.'),
  p50_ttft_ms: z
    .int()
    .nullable()
    .describe(`Median time to the first token of streams in milliseconds, ${WITHIN}; null without streams.`),
  output_tokens_per_second: z
    .number()
    .nullable()
    .describe(
      'Output tokens of successful calls per second of their latency; null without successful calls.',
    ),
  median_tokens_in: z
    .int()
    .nullable()
    .describe(`Median input tokens of successful calls, ${WITHIN}; null without successful calls.`),
  median_tokens_out: z
    .int()
    .nullable()
    .describe(`Median output tokens of successful calls, ${WITHIN}; null without successful calls.`),
  total_tokens_in: count('Input tokens in the window.'),
  total_tokens_out: count('Output tokens in the window.'),
  total_cost_usd: decimal('Total charge for the calls in US dollars.'),
  input_price_per_million_usd: decimal('Price per million input tokens in US dollars.'),
  output_price_per_million_usd: decimal('Price per million output tokens in US dollars.'),
  ranking_score: z
    .number()
    .nullable()
    .describe('Score from 0 to 1, higher is better; null for a model with too little data.'),
  rank: z.int().nullable().describe('Rank by `ranking_score`, starting from 1; null for an unranked model.'),
  rank_tied: z
    .boolean()
    .describe("Whether the model shares its rank with another that the data can't tell apart from it."),
  one_account_dominates: z.boolean().describe('Whether more than half of the calls come from one account.'),
});

export const leaderboardEntryOutput = entry.meta({
  id: 'LeaderboardEntry',
  description: 'Figures of a model in the window, across all accounts.',
});
export type LeaderboardEntryOutput = z.infer<typeof leaderboardEntryOutput>;

export const leaderboardOutput = z
  .object({
    window_days: z.int().describe('As requested.'),
    total_entries: z.int().describe('Number of ranked models.'),
    generated_at: figuresAt,
    entries: z.array(leaderboardEntryOutput).describe('Ranked models, in the requested order.'),
    insufficient_data_models: z
      .array(z.string())
      .describe('Models with fewer than 100 calls in the window, or with calls from too few accounts.'),
  })
  .meta({ id: 'Leaderboard', description: 'Models ranked by their figures across all accounts.' });
export type LeaderboardOutput = z.infer<typeof leaderboardOutput>;

export const modelHourOutput = z
  .object({
    hour: timestamp('Start of the hour.'),
    requests: count('Calls that succeeded or failed.'),
    errors: count('Number of calls that failed.'),
    p50_latency_ms: z
      .int()
      .describe('Median latency of successful calls in milliseconds; 0 without successful calls.'),
    p95_latency_ms: z
      .int()
      .describe('95th percentile of their latency in milliseconds; 0 without successful calls.'),
    tokens_in: count('Input tokens.'),
    tokens_out: count('Output tokens.'),
  })
  .meta({ id: 'ModelHour', description: 'Calls of a model in one UTC hour.' });
export type ModelHourOutput = z.infer<typeof modelHourOutput>;

export const leaderboardModelOutput = entry
  .extend({
    insufficient_data: z.boolean().describe('Whether the model has too little data to be ranked.'),
    generated_at: figuresAt,
    hourly_breakdown: z
      .array(modelHourOutput)
      .describe(
        'The last 168 hours, oldest first. An hour in which too few accounts called the model has 0s.',
      ),
  })
  .meta({ id: 'LeaderboardModel', description: 'Figures of one model, in total and by hour.' });
export type LeaderboardModelOutput = z.infer<typeof leaderboardModelOutput>;

export const sketchPointOutput = z
  .object({
    value: z.int().describe('Representative value of the bucket, within 1% of each of its values.'),
    count: count('Number of values in the bucket.'),
  })
  .meta({ id: 'SketchPoint', description: 'A bucket of a sketch.' });
const sketch = (of: string): z.ZodArray<typeof sketchPointOutput> =>
  z.array(sketchPointOutput).describe(`Sketch of ${of}, ascending.`);

export const leaderboardRowOutput = z
  .object({
    model_public_name: z.string().describe('Public name of the model.'),
    window_days: z.int().describe('As requested.'),
    generated_at: figuresAt,
    successes: count('Calls that succeeded.'),
    errors: count('Calls that failed or that another model served.'),
    rate_limited: count(
      'Calls that failed with `upstream_unavailable`: every node was rate limited or unavailable.',
    ),
    tokens_in: count('Input tokens.'),
    tokens_out: count('Output tokens.'),
    success_tokens_out: count('Output tokens of the successes.'),
    success_latency_ms: count('Total latency of the successes in milliseconds.'),
    input_price_per_million_usd: decimal('Price of a million input tokens in dollars.'),
    output_price_per_million_usd: decimal('Price of a million output tokens in dollars.'),
    latency_ms: sketch('the latency of the successes in milliseconds'),
    ttft_ms: sketch('the time to first token of streams in milliseconds'),
    input_tokens: sketch('the input tokens of the successes'),
    output_tokens: sketch('the output tokens of the successes'),
  })
  .meta({
    id: 'LeaderboardRow',
    description: 'Counts and sketches from which the figures of a model are computed.',
  });
export type LeaderboardRowOutput = z.infer<typeof leaderboardRowOutput>;

export const recomputeOutput = z
  .object({ hours: z.int().describe('Number of hours rolled up, including the current one.') })
  .meta({ id: 'LeaderboardRecomputed', description: 'The result of recomputing the leaderboard.' });
export type RecomputeOutput = z.infer<typeof recomputeOutput>;
