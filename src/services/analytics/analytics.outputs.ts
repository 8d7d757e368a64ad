import { z } from 'zod';
import { count, decimal } from '../../lib/output-fields.js';

export const modelShareOutput = z
  .object({
    model_public_name: z.string().describe('Public name of the model that served the calls.'),
    requests: count('Number of calls.'),
    cost_usd: decimal('Cost in US dollars.'),
  })
  .meta({ id: 'ModelShare', description: 'Usage of one model.' });

export const analyticsDayOutput = z
  .object({
    date: z.string().describe('UTC day, `YYYY-MM-DD`.'),
    requests: count('Number of calls.'),
    errors: count('Number of calls that failed.'),
    cost_usd: decimal('Cost in US dollars.'),
  })
  .meta({ id: 'AnalyticsDay', description: 'Usage on one UTC day.' });

export const usageSeriesPointOutput = z
  .object({
    start: z
      .string()
      .describe(
        'The day, `YYYY-MM-DD`, or the time at which the UTC hour begins, `YYYY-MM-DDTHH:MM`, in the time zone.',
      ),
    model_public_name: z.string().describe('Public name of the model that served the calls.'),
    requests: count('Number of calls.'),
    errors: count('Number of calls that failed.'),
    tokens_in: count('Input tokens.'),
    tokens_out: count('Output tokens.'),
    cost_usd: decimal('Cost in US dollars.'),
  })
  .meta({ id: 'UsageSeriesPoint', description: 'Usage of one model in one hour or day.' });
export const usageSeriesOutput = z
  .array(usageSeriesPointOutput)
  .describe('Points, oldest first. Intervals without calls are left out.');
export type UsageSeriesPointOutput = z.infer<typeof usageSeriesPointOutput>;

const LATENCY =
  'Failed calls are not included. Exact below 2,000 calls if the account has at most 10,000 in the window, otherwise within 1%. 0 without calls.';

export const analyticsOutput = z
  .object({
    window_days: z.int().describe('As requested.'),
    total_requests: count('Number of calls.'),
    error_count: count('Number of calls that failed.'),
    error_rate: z.number().describe('Share of calls that failed, 0 to 1.'),
    p50_latency_ms: z.int().describe(`Median latency in milliseconds. ${LATENCY}`),
    p95_latency_ms: z.int().describe(`95th percentile latency in milliseconds. ${LATENCY}`),
    total_cost_usd: decimal('Total cost in US dollars.'),
    total_tokens_in: count('Input tokens.'),
    total_tokens_out: count('Output tokens.'),
    top_models: z.array(modelShareOutput).describe('The five most used models, by number of calls.'),
    daily_breakdown: z
      .array(analyticsDayOutput)
      .describe('One entry per day of the window, oldest first. Days without calls are included with 0.'),
  })
  .meta({ id: 'Analytics', description: 'Usage analytics for a window of days.' });
export type AnalyticsOutput = z.infer<typeof analyticsOutput>;
