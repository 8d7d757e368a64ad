import { z } from 'zod';
import { count, timestamp, uuid } from '../../lib/output-fields.js';

export const refusedCallOutput = z
  .object({
    key_id: uuid('ID of the key that the calls used.'),
    key_name: z
      .string()
      .describe('Name of the key, also after it was deleted; null if it is no longer known.')
      .nullable(),
    key_status: z
      .enum(['active', 'disabled', 'deleted'])
      .describe('Status of the key. Calls with a disabled or deleted key are always rejected.'),
    code: z.string().describe('Error code of the calls.'),
    http_status: z.int().describe('HTTP status of that code.'),
    model_public_name: z
      .string()
      .describe('Requested model; null if none was named, or one that does not exist.')
      .nullable(),
    calls: count('Number of calls rejected for this reason.'),
    last_at: timestamp('When the latest of them was rejected.'),
    remedy: z.string().describe('How to fix it.'),
  })
  .meta({ id: 'RefusedCall', description: 'Calls with one key that were rejected for one reason.' });
export type RefusedCallOutput = z.infer<typeof refusedCallOutput>;

/** A rejected call, which has no receipt. */
export const rejectedCallOutput = refusedCallOutput
  .pick({
    key_id: true,
    key_name: true,
    key_status: true,
    http_status: true,
    model_public_name: true,
    remedy: true,
  })
  .extend({
    id: uuid('The `x-request-id` of the call.'),
    status: z.literal('rejected').describe('The call was rejected before it reached a model, and was free.'),
    error_code: z.string().describe('Error code of the call.'),
    created_at: timestamp('When the call began.'),
  })
  .meta({ id: 'RejectedCall', description: 'One call that was rejected before it reached a model.' });
export type RejectedCallOutput = z.infer<typeof rejectedCallOutput>;

export const refusedCallsOutput = z
  .object({
    window_days: z.int().describe('Number of days in the window.'),
    total_calls: count('Rejected calls in the window.'),
    reasons: z
      .array(refusedCallOutput)
      .describe('Reasons by key, error code and model, latest first; at most 100.'),
  })
  .meta({
    id: 'RefusedCalls',
    description:
      'Calls that were rejected before they reached a model. They cost nothing and are not part of usage.',
  });
export type RefusedCallsOutput = z.infer<typeof refusedCallsOutput>;

export const refusalHourOutput = refusedCallOutput
  .pick({ key_id: true, model_public_name: true, code: true })
  .extend({
    hour: timestamp('Start of the hour.'),
    count: count('Number of rejected calls.'),
  })
  .meta({
    id: 'RefusalHour',
    description: 'Calls of one hour with one key that were rejected for one reason.',
  });
export const refusalHoursOutput = z.array(refusalHourOutput).describe('Latest hour first.');
export type RefusalHourOutput = z.infer<typeof refusalHourOutput>;
