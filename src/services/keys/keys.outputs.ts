import { z } from 'zod';

const decimal = z.string().describe('Exact decimal, 6 to 12 digits after the point');
const timestamp = z.string().describe('ISO 8601 UTC, six digits of seconds and Z');

export const keyOutput = z.object({
  id: z.string(),
  name: z.string(),
  key_prefix: z.string().describe('Leading part of the key, safe to display'),
  last_four: z.string(),
  status: z.enum(['active', 'disabled']),
  monthly_limit_usd: decimal.nullable(),
  daily_limit_usd: decimal.nullable(),
  spend_today_usd: decimal.describe('Of the current UTC day'),
  spend_month_usd: decimal.describe('Of the current UTC month'),
  has_upstream: z
    .boolean()
    .describe('false: calls answer upstream_unconfigured; delete the key and create another'),
  last_used_at: timestamp.nullable(),
  created_at: timestamp,
});
export const keysOutput = z.array(keyOutput);
export type KeyOutput = z.infer<typeof keyOutput>;

export const createdKeyOutput = z.object({
  key: z.string().describe('The full secret. It is shown this once'),
  api_key: keyOutput,
});
export type CreatedKeyOutput = z.infer<typeof createdKeyOutput>;
