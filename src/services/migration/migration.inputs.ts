import { z } from 'zod';
import { mustBeOneOf, required } from '../../lib/input-fields.js';
import { LEGACY_PROVIDERS } from './legacy-prices.data.js';

const TOKENS = `must be 0 to ${Number.MAX_SAFE_INTEGER}, a whole number`;
const tokens = z.int(required(TOKENS)).min(0, TOKENS);
const NAME = 'must have 1 to 200 characters';

export const estimateInput = z
  .strictObject({
    legacy_provider: z
      .enum(LEGACY_PROVIDERS, required(mustBeOneOf(LEGACY_PROVIDERS)))
      .describe('Your current provider: `openai`, `anthropic` or `openrouter`.'),
    legacy_model: z
      .string(required(NAME))
      .trim()
      .min(1, NAME)
      .max(200, NAME)
      .describe("The provider's model name, with or without a date: `gpt-4o`, `claude-3-5-sonnet-20241022`."),
    input_tokens_30d: tokens.describe('Input tokens in 30 days, including cached ones.'),
    output_tokens_30d: tokens.describe('Output tokens in 30 days.'),
    cached_input_tokens_30d: tokens
      .optional()
      .describe('Input tokens billed at the price for cached input. At most `input_tokens_30d`.'),
  })
  .refine(
    ({ input_tokens_30d, cached_input_tokens_30d }) =>
      cached_input_tokens_30d === undefined || cached_input_tokens_30d <= input_tokens_30d,
    { path: ['cached_input_tokens_30d'], message: 'must be at most input_tokens_30d' },
  )
  .meta({ id: 'Estimate', description: 'Your current usage.' });
export type EstimateInput = z.output<typeof estimateInput>;
