import { z } from 'zod';

export const refusedCallOutput = z
  .object({
    key_id: z.string().meta({ description: 'Id of the key that the calls presented.', format: 'uuid' }),
    key_name: z
      .string()
      .describe('Its name, also of a deleted key; null when nothing is left of it.')
      .nullable(),
    key_status: z
      .enum(['active', 'disabled', 'deleted'])
      .describe('What became of the key: calls with a disabled or deleted one are always refused.'),
    code: z.string().describe('The error code that the calls were answered with.'),
    http_status: z.int().describe('The HTTP status that belongs to it.'),
    model_public_name: z
      .string()
      .describe('The model that they asked for; null where they named none, or one that does not exist.')
      .nullable(),
    calls: z.int().describe('How many calls were refused like this.'),
    last_at: z.string().describe('When the latest of them was refused. UTC, six digits and Z.'),
    remedy: z.string().describe('What to do about it.'),
  })
  .meta({ id: 'RefusedCall', description: 'Calls with one key that were refused for one reason.' });
export type RefusedCallOutput = z.infer<typeof refusedCallOutput>;

export const refusedCallsOutput = z
  .object({
    window_days: z.int().describe('As asked for.'),
    total_calls: z.int().describe('Refused calls in the window.'),
    reasons: z
      .array(refusedCallOutput)
      .describe('By key, error code and model, at most 100; the one that happened last comes first.'),
  })
  .meta({
    id: 'RefusedCalls',
    description: 'Calls that were refused before they reached a model. They cost nothing and are no usage.',
  });
export type RefusedCallsOutput = z.infer<typeof refusedCallsOutput>;
