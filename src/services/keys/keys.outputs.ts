import { z } from 'zod';
import { decimal, timestamp, uuid } from '../../lib/output-fields.js';

export const keyOutput = z
  .object({
    id: uuid('Id of the key.'),
    name: z.string().describe('Label chosen by the owner.'),
    key_prefix: z.string().describe('Leading part of the key, safe to display.'),
    last_four: z.string().describe('Last four characters of the key.'),
    status: z.enum(['active', 'disabled']).describe('A disabled key is refused on `/v1`.'),
    monthly_limit_usd: decimal('Dollars, the basis of alerts and no hard cap; null: none.').nullable(),
    daily_limit_usd: decimal('Dollars, the hard cap per UTC day; null: none.').nullable(),
    spend_today_usd: decimal('Dollars spent on the current UTC day.'),
    spend_month_usd: decimal('Dollars spent in the current UTC month.'),
    has_upstream: z
      .boolean()
      .describe('Whether it has its upstream virtual key; without one calls answer `upstream_unconfigured`.'),
    last_used_at: timestamp('Time of its last call, null before the first.').nullable(),
    created_at: timestamp('Time of its making.'),
  })
  .meta({ id: 'ApiKey', description: 'An API key.' });
export const keysOutput = z.array(keyOutput).describe('API keys, newest first.');
export type KeyOutput = z.infer<typeof keyOutput>;

export const createdKeyOutput = z
  .object({
    key: z.string().describe('The full secret. It is shown this once.'),
    api_key: keyOutput,
  })
  .meta({ id: 'CreatedApiKey', description: 'A new API key with its secret.' });
export type CreatedKeyOutput = z.infer<typeof createdKeyOutput>;

export const keyDayOutput = z
  .object({
    date: z.string().describe('UTC day, `YYYY-MM-DD`.'),
    cost_usd: decimal('Dollars spent with the key on that day.'),
  })
  .describe('Spend of an API key on one UTC day.');
export type KeyDayOutput = z.infer<typeof keyDayOutput>;
