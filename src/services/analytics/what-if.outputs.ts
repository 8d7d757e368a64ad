import { z } from 'zod';
import { decimal } from '../../lib/output-fields.js';

export const whatIfOutput = z
  .object({
    window_days: z.int().describe('As asked for.'),
    model_public_name: z.string().describe('The model that the calls are priced on.'),
    requests: z
      .int()
      .describe(
        'Charged calls of the same kind: chat or embeddings. Failed calls cost nothing on any model.',
      ),
    input_tokens: z.int().describe('Their tokens in.'),
    output_tokens: z.int().describe('Their tokens out.'),
    actual_cost_usd: decimal('What they cost in dollars.'),
    estimated_cost_usd: decimal("The same tokens at the other model's price of today, in dollars."),
    difference_usd: decimal(
      'Estimate less actual cost in dollars: negative where the other model is cheaper.',
    ),
  })
  .meta({
    id: 'WhatIf',
    description:
      'Calls of the last days priced on another model. It takes the token counts as they were; another model may count and answer differently.',
  });
export type WhatIfOutput = z.infer<typeof whatIfOutput>;
