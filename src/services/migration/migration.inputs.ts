import { z } from 'zod';
import { LEGACY_PROVIDERS } from './legacy-prices.data.js';

const TOKENS = `must be 0 to ${Number.MAX_SAFE_INTEGER}, a whole number`;
const tokens = z.int(TOKENS).min(0, TOKENS);
const NAME = 'must have 1 to 200 characters';

export const estimateInput = z
  .strictObject({
    legacy_provider: z
      .enum(LEGACY_PROVIDERS, `must be ${LEGACY_PROVIDERS.join(', ')}`)
      .describe('Provider that you call today: `openai`, `anthropic` or `openrouter`.'),
    legacy_model: z
      .string(NAME)
      .trim()
      .min(1, NAME)
      .max(200, NAME)
      .describe('Its name of the model, dated or not: `gpt-4o`, `claude-3-5-sonnet-20241022`.'),
    input_tokens_30d: tokens.describe('Input tokens of 30 days, cached ones included.'),
    output_tokens_30d: tokens.describe('Output tokens of 30 days.'),
    cached_input_tokens_30d: tokens
      .optional()
      .describe(
        'Input tokens that the provider billed at its price for cached input; at most the input tokens.',
      ),
  })
  .refine(
    ({ input_tokens_30d, cached_input_tokens_30d }) =>
      cached_input_tokens_30d === undefined || cached_input_tokens_30d <= input_tokens_30d,
    { path: ['cached_input_tokens_30d'], message: 'must be at most input_tokens_30d' },
  )
  .meta({ id: 'EstimateInput', description: 'What you use today.' });
export type EstimateInput = z.output<typeof estimateInput>;
