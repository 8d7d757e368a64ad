import { z } from 'zod';
import { count, decimal } from '../../lib/output-fields.js';

export const modelShareOutput = z
  .object({
    model_public_name: z.string().describe('The model that served.'),
    requests: count('Calls that it served.'),
    cost_usd: decimal('What they cost in dollars.'),
  })
  .meta({ id: 'ModelShare', description: "A model's share of the calls." });

export const analyticsDayOutput = z
  .object({
    date: z.string().describe('UTC day, `YYYY-MM-DD`.'),
    requests: count('Calls of that day.'),
    errors: count('Those of them that ended with an error.'),
    cost_usd: decimal('What they cost in dollars.'),
  })
  .meta({ id: 'AnalyticsDay', description: 'Calls of one UTC day.' });

const LATENCY = 'Exact below 50,000 calls, beyond that within 1 %; 0 where there was none.';

export const analyticsOutput = z
  .object({
    window_days: z.int().describe('As asked for.'),
    total_requests: count('Calls in the window.'),
    error_count: count('Those of them that ended with an error.'),
    error_rate: z.number().describe('Errors per call, 0 to 1.'),
    p50_latency_ms: z.int().describe(`Half of the calls took at most so many milliseconds. ${LATENCY}`),
    p95_latency_ms: z.int().describe(`95 % of the calls took at most so many milliseconds. ${LATENCY}`),
    total_cost_usd: decimal('What the calls cost in dollars.'),
    total_tokens_in: count('Tokens in.'),
    total_tokens_out: count('Tokens out.'),
    top_models: z.array(modelShareOutput).describe('The five models with the most calls, most first.'),
    daily_breakdown: z
      .array(analyticsDayOutput)
      .describe('Each day of the window, oldest first; days without calls are there with 0.'),
  })
  .meta({ id: 'Analytics', description: 'What happened in the last days.' });
export type AnalyticsOutput = z.infer<typeof analyticsOutput>;
