import { z } from 'zod';
import { count, decimal } from '../../lib/output-fields.js';
import { figuresAt } from './leaderboard.outputs.js';

const band = z.object({
  from_output_tokens: z.int().describe('Fewest output tokens of the answers of this length.'),
  to_output_tokens: z
    .int()
    .nullable()
    .describe('Most output tokens of the answers of this length; null: any number.'),
});

export const mixBandOutput = band
  .extend({ share: z.number().describe('Share of your calls with answers of this length, 0 to 1.') })
  .meta({ id: 'MixBand', description: 'Share of your calls with answers of one length.' });

export const latencyBandOutput = band
  .extend({
    requests: count('Your successful calls with answers of this length.'),
    p95_latency_ms: z
      .int()
      .nullable()
      .describe('95th percentile of your latency in milliseconds, within 1 %; null without calls.'),
    everyone_p95_latency_ms: z
      .int()
      .nullable()
      .describe('The same over all accounts; null if too few accounts have such calls.'),
  })
  .meta({ id: 'LatencyBand', description: 'Your latency beside that of all accounts, for one length.' });

export const usageMixOutput = z
  .object({
    requests: count('Your successful calls of chat models in the window.'),
    input_tokens: count('Their input tokens.'),
    output_tokens: count('Their output tokens.'),
    bands: z.array(mixBandOutput).describe('Lengths of their answers, the shortest first.'),
  })
  .meta({
    id: 'UsageMix',
    description: 'Your usage of chat models: proportions of tokens and lengths of answers.',
  });

export const mixEntryOutput = z
  .object({
    model_public_name: z.string().describe('Public name of the model.'),
    requests: count('Your successful calls of the model in the window.'),
    p95_latency_ms: z
      .int()
      .nullable()
      .describe('95th percentile of your latency in milliseconds, within 1 %; null without calls.'),
    everyone_p95_latency_ms: z
      .int()
      .nullable()
      .describe(
        'The same over all accounts, weighted to the lengths of your answers; null if too few accounts have such calls.',
      ),
    bands: z.array(latencyBandOutput).describe('The same for each length of your answers.'),
    mix_price_per_million_usd: decimal(
      'Price of a million tokens in your proportion of input and output, in dollars; null without calls, and for an embedding model.',
    ).nullable(),
    mix_p95_latency_ms: z
      .int()
      .nullable()
      .describe(
        '95th percentile over all accounts for answers as long as those of your mix; null without data.',
      ),
    mix_coverage: z.number().describe('Share of your mix that this percentile has data for, 0 to 1.'),
    ranking_score: z
      .number()
      .nullable()
      .describe('0 to 1, higher is better for your mix; null for a model that is not ranked.'),
    rank: z.int().nullable().describe('Rank for your mix, from 1; null for a model that is not ranked.'),
    rank_tied: z
      .boolean()
      .describe('Whether the data cannot tell it apart from another model of the same rank.'),
  })
  .meta({ id: 'LeaderboardMixEntry', description: 'A model for your own usage.' });
export type MixEntryOutput = z.infer<typeof mixEntryOutput>;

export const leaderboardMixOutput = z
  .object({
    window_days: z.int().describe('As requested.'),
    generated_at: figuresAt,
    mix: usageMixOutput.describe('Your usage of chat models.'),
    entries: z
      .array(mixEntryOutput)
      .describe('All models: the ranked ones by `rank`, then the others, which include embedding models.'),
  })
  .meta({
    id: 'LeaderboardMix',
    description:
      'The leaderboard for your own usage: your latency beside that of all accounts, and ranks for your mix.',
  });
export type LeaderboardMixOutput = z.infer<typeof leaderboardMixOutput>;
