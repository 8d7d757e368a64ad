import { z } from 'zod';
import { decimal, timestamp, uuid } from '../../lib/output-fields.js';

const accountFields = {
  id: uuid('Account ID.'),
  email: z.string().describe('Email address as entered at sign-up. Empty if the account has none.'),
  name: z.string().describe('Display name.'),
  role: z.enum(['user', 'admin']).describe('Account role: `user` or `admin`.'),
  status: z.enum(['active', 'disabled']).describe('Account status: `active` or `disabled`.'),
  created_at: timestamp('Creation time.'),
  plan_id: z.string().describe('Plan name.'),
};

export const accountOutput = z.object(accountFields).meta({ id: 'Account', description: 'An account.' });

export type AccountOutput = z.infer<typeof accountOutput>;

export const sessionOutput = z
  .object({
    access_token: z.string().describe('Session token. Send it as `Authorization: Bearer …`.'),
    token_type: z.literal('bearer').describe('Always `bearer`.'),
    user: accountOutput,
  })
  .meta({ id: 'Session', description: 'A session. The `pr_session` cookie carries the same token.' });

export const meOutput = z
  .object({
    ...accountFields,
    plan: z
      .object({
        name: z.string().describe('Plan name.'),
        monthly_price_usd: decimal('Monthly price in US dollars.'),
        included_credits_usd: decimal('Included credits in US dollars.'),
        allowed_models: z.array(z.string()).describe('Public names of the allowed models.'),
        requests_per_minute: z.int().describe('Rate limit for `/v1`, in requests per minute.'),
      })
      .describe('The plan of the account.'),
    balance_usd: decimal('Credit balance in US dollars.'),
  })
  .meta({ id: 'Me', description: 'The signed-in account.' });

export type MeOutput = z.infer<typeof meOutput>;

export const userOutput = z
  .object({ ...accountFields, balance_usd: decimal('Credit balance in US dollars.') })
  .meta({ id: 'User', description: 'An account, as shown to administrators.' });

export type UserOutput = z.infer<typeof userOutput>;

export const usersOutput = z.array(userOutput).describe('Accounts, newest first.');
