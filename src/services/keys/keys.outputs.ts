import { z } from 'zod';
import { decimal, timestamp, uuid } from '../../lib/output-fields.js';

export const keyGuardOutput = z
  .object({
    at_pct: z.int().describe('Percentage of the monthly limit at which the guard acts.'),
    action: z
      .enum(['disable', 'slow', 'fallback_model'])
      .describe(
        '`disable` rejects calls, `slow` allows a tenth of them, `fallback_model` moves them to another model.',
      ),
    model_public_name: z.string().nullable().describe('Model for `fallback_model`. Null for other actions.'),
  })
  .meta({
    id: 'ApiKeyGuard',
    description: 'What happens when the spend of an API key reaches a percentage of its monthly limit.',
  });

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
      "Monthly limit in US dollars, or null. It triggers alerts and the guard but doesn't stop calls itself.",
    ).nullable(),
    daily_limit_usd: decimal(
      'Daily limit in US dollars, or null. Calls are rejected once it is reached; it resets at 00:00 UTC.',
    ).nullable(),
    guard: keyGuardOutput
      .nullable()
      .describe('What happens at a percentage of the monthly limit, if anything.'),
    guard_status: z
      .enum(['off', 'armed', 'acting', 'undone'])
      .describe(
        'State of the guard this UTC month. `off`: no guard or no monthly limit. `undone`: off until the month ends.',
      ),
    guard_acted_at: timestamp('Time the guard acted this UTC month, if it did.').nullable(),
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
