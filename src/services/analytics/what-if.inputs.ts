import { z } from 'zod';
import { integer } from '../../lib/page-input.js';

export const whatIfInput = z.strictObject({
  model: z
    .string()
    .min(1, 'must be the public name of a model')
    .max(200, 'must be the public name of a model')
    .describe('Public name of the model to price the calls on.'),
  window_days: integer(1, 90).default(30).describe('UTC days to look back on, today included; 1 to 90.'),
  key_id: z.string().nullish().describe('Only calls with this API key.'),
  prompt_version_id: z.string().nullish().describe('Only calls that named this version of a prompt.'),
});
export type WhatIfInput = z.output<typeof whatIfInput>;
