import { z } from 'zod';
import { count, decimal, timestamp } from '../../lib/output-fields.js';

const WITHIN = 'within 1 %';

const entry = z.object({
  model_public_name: z.string().describe('Public name of the model.'),
  family: z.string().describe('Family of the model.'),
  context_window: z.int().describe('Context window, in tokens.'),
  is_featured: z.boolean().describe('Whether it is shown first.'),
  requests: count('Calls that succeeded or failed in the window.'),
  success_rate: z.number().describe('Successes per call, 0 to 1.'),
  success_rate_low: z.number().describe("Lower end of its 95 % interval (Wilson's)."),
  success_rate_high: z.number().describe("Upper end of its 95 % interval (Wilson's)."),
  error_rate: z.number().describe('Errors per call, 0 to 1.'),
  rate_limited_share: z
    .number()
    .describe('Calls that ended with status 429 per call, 0 to 1. They count as errors.'),
  p50_latency_ms: z.int().describe(`Median latency of the successes in milliseconds, ${WITHIN}.`),
  p95_latency_ms: z
    .int()
    .describe(`95th percentile of the latency of the successes in milliseconds, ${WITHIN}.`),
  p95_low_ms: z.int().describe('Lower end of its 95 % interval, in milliseconds.'),
  p95_high_ms: z.int().describe('Upper end of its 95 % interval, in milliseconds.'),
  p50_ttft_ms: z
    .int()
    .nullable()
    .describe(`Median time to first token of streams in milliseconds, ${WITHIN}; null without streams.`),
  output_tokens_per_second: z
    .number()
    .nullable()
    .describe('Output tokens of the successes per second of their latency; null where there are none.'),
  median_tokens_in: z
    .int()
    .nullable()
    .describe(`Median of the input tokens of the successes, ${WITHIN}; null without successes.`),
  median_tokens_out: z
    .int()
    .nullable()
    .describe(`Median of the output tokens of the successes, ${WITHIN}; null without successes.`),
  total_tokens_in: count('Input tokens in the window.'),
  total_tokens_out: count('Output tokens in the window.'),
  total_cost_usd: decimal('What the calls were charged with in dollars.'),
  input_price_per_million_usd: decimal('Price of a million input tokens in dollars.'),
  output_price_per_million_usd: decimal('Price of a million output tokens in dollars.'),
  ranking_score: z
    .number()
    .nullable()
    .describe('0 to 1, higher is better; null for a model with too little data to be ranked.'),
  rank: z.int().nullable().describe('Place by `ranking_score`, from 1; null for a model that is not ranked.'),
  rank_tied: z
    .boolean()
    .describe('Whether the data cannot tell it apart from another model of the same rank.'),
  one_account_dominates: z.boolean().describe('Whether more than half of the calls are of one account.'),
});

export const leaderboardEntryOutput = entry.meta({
  id: 'LeaderboardEntry',
  description: 'How a model did in the window, over all accounts.',
});
export type LeaderboardEntryOutput = z.infer<typeof leaderboardEntryOutput>;

export const leaderboardOutput = z
  .object({
    window_days: z.int().describe('As asked for.'),
    total_entries: z.int().describe('Models that are ranked.'),
    generated_at: timestamp('When the figures were put together.'),
    entries: z.array(leaderboardEntryOutput).describe('Ranked models, in the order that was asked for.'),
    insufficient_data_models: z
      .array(z.string())
      .describe('Models with fewer than 100 calls in the window, or calls of too few accounts.'),
  })
  .meta({ id: 'Leaderboard', description: 'How models did, over all accounts.' });
export type LeaderboardOutput = z.infer<typeof leaderboardOutput>;

export const modelHourOutput = z
  .object({
    hour: timestamp('Start of the hour.'),
    requests: count('Calls that succeeded or failed.'),
    errors: count('Those of them that failed.'),
    p50_latency_ms: z
      .int()
      .describe('Median latency of the successes in milliseconds; 0 where there are none.'),
    p95_latency_ms: z.int().describe('95th percentile in milliseconds; 0 where there are none.'),
    tokens_in: count('Input tokens.'),
    tokens_out: count('Output tokens.'),
  })
  .meta({ id: 'ModelHour', description: "A model's calls of one UTC hour." });
export type ModelHourOutput = z.infer<typeof modelHourOutput>;

export const leaderboardModelOutput = entry
  .extend({
    insufficient_data: z.boolean().describe('Whether there is too little data to rank it.'),
    generated_at: timestamp('When the figures were put together.'),
    hourly_breakdown: z
      .array(modelHourOutput)
      .describe('The last 168 hours, oldest first. All 0 where too few accounts used the model.'),
  })
  .meta({ id: 'LeaderboardModel', description: 'How one model did, in total and by hour.' });
export type LeaderboardModelOutput = z.infer<typeof leaderboardModelOutput>;

export const recomputeOutput = z
  .object({ hours: z.int().describe('Hours that were rolled up, the open one included.') })
  .meta({ id: 'LeaderboardRecomputed', description: 'What was rolled up.' });
export type RecomputeOutput = z.infer<typeof recomputeOutput>;
