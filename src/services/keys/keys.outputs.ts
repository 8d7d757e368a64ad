import { z } from 'zod';
import { decimal, timestamp, uuid } from '../../lib/output-fields.js';

export const keyOutput = z
  .object({
    id: uuid('API key ID.'),
    name: z.string().describe('Key name.'),
    key_prefix: z.string().describe('First characters of the key, safe to display.'),
    last_four: z.string().describe('Last four characters of the key.'),
    status: z
      .enum(['active', 'disabled'])
      .describe('Key status: `active` or `disabled`. A disabled key is rejected on `/v1`.'),
    monthly_limit_usd: decimal(
      "Monthly limit in US dollars, or null. It triggers alerts but doesn't stop calls.",
    ).nullable(),
    daily_limit_usd: decimal(
      'Daily limit in US dollars, or null. Calls are rejected once it is reached; it resets at 00:00 UTC.',
    ).nullable(),
    spend_today_usd: decimal('Spend on the current UTC day in US dollars.'),
    spend_month_usd: decimal('Spend in the current UTC month in US dollars.'),
    has_upstream: z
      .boolean()
      .describe(
        'Whether the key has an upstream virtual key. Without one, calls fail with `upstream_unconfigured`.',
      ),
    last_used_at: timestamp('Time of the last call. Null if the key was never used.').nullable(),
    created_at: timestamp('Creation time.'),
  })
  .meta({ id: 'ApiKey', description: 'An API key.' });
export const keysOutput = z.array(keyOutput).describe('API keys, newest first.');
export type KeyOutput = z.infer<typeof keyOutput>;

export const createdKeyOutput = z
  .object({
    key: z.string().describe('The full secret key. Shown only once.'),
    api_key: keyOutput,
  })
  .meta({ id: 'CreatedApiKey', description: 'A new API key and its secret.' });
export type CreatedKeyOutput = z.infer<typeof createdKeyOutput>;

export const keyDayOutput = z
  .object({
    date: z.string().describe('UTC day, `YYYY-MM-DD`.'),
    cost_usd: decimal('Spend on that day in US dollars.'),
  })
  .describe('Spend of an API key on one UTC day.');
export type KeyDayOutput = z.infer<typeof keyDayOutput>;
