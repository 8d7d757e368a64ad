import { z } from 'zod';
import { count, decimal } from '../../lib/output-fields.js';

export const whatIfOutput = z
  .object({
    window_days: z.int().describe('Number of UTC days included.'),
    model_public_name: z.string().describe('Model whose price is applied.'),
    requests: count(
      'Charged calls of the same kind, chat or embeddings. Failed calls are free on every model.',
    ),
    input_tokens: count('Input tokens of the calls.'),
    output_tokens: count('Output tokens of the calls.'),
    actual_cost_usd: decimal('Actual cost in US dollars.'),
    estimated_cost_usd: decimal("Cost of the same tokens at the other model's current price, in US dollars."),
    difference_usd: decimal(
      'Estimated minus actual cost in US dollars; negative if the other model is cheaper.',
    ),
  })
  .meta({
    id: 'WhatIf',
    description:
      'Recent calls at the price of another model. Token counts stay the same, although another model may count and answer differently.',
  });
export type WhatIfOutput = z.infer<typeof whatIfOutput>;
