import { z } from 'zod';
import { integerInput } from '../../lib/page-input.js';

export const whatIfInput = z.strictObject({
  model: z
    .string()
    .min(1, 'must be the public name of a model')
    .max(200, 'must be the public name of a model')
    .describe('Public name of the model whose price to apply.'),
  window_days: integerInput(1, 90)
    .default(30)
    .describe('Number of UTC days to include, counting today: 1 to 90.'),
  key_id: z.string().nullish().describe('ID of an API key; includes only its calls.'),
  prompt_version_id: z
    .string()
    .nullish()
    .describe('ID of a prompt version; includes only calls that used it.'),
});
export type WhatIfInput = z.output<typeof whatIfInput>;
