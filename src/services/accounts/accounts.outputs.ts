import { z } from 'zod';
import { decimal, timestamp, uuid } from '../../lib/output-fields.js';

const accountFields = {
  id: uuid('Id of the account.'),
  email: z.string().describe('Mail address as the person wrote it; empty for an account without one.'),
  name: z.string().describe('Name of the person.'),
  role: z.enum(['user', 'admin']).describe('`user`, or `admin` for operators.'),
  status: z.enum(['active', 'disabled']).describe('A disabled account can do nothing.'),
  created_at: timestamp('Time of the sign-up.'),
  plan_id: z.string().describe('Name of the plan.'),
};

export const accountOutput = z.object(accountFields).meta({ id: 'Account', description: 'An account.' });

export type AccountOutput = z.infer<typeof accountOutput>;

export const sessionOutput = z
  .object({
    access_token: z.string().describe('Session token, sent as `Authorization: Bearer …`.'),
    token_type: z.literal('bearer').describe('Always `bearer`.'),
    user: accountOutput,
  })
  .meta({ id: 'Session', description: 'A session. The cookie `pr_session` carries the same token.' });

export const meOutput = z
  .object({
    ...accountFields,
    plan: z
      .object({
        name: z.string().describe('Name of the plan.'),
        monthly_price_usd: decimal('Price per month in dollars.'),
        included_credits_usd: decimal('Credits per month in dollars.'),
        allowed_models: z.array(z.string()).describe('Public names of the models that may be called.'),
        requests_per_minute: z.int().describe('Calls of `/v1` per minute.'),
      })
      .describe('The plan of the account.'),
    balance_usd: decimal('Credit balance in dollars.'),
  })
  .meta({ id: 'Me', description: 'The account of the session.' });

export type MeOutput = z.infer<typeof meOutput>;

export const userOutput = z
  .object({ ...accountFields, balance_usd: decimal('Credit balance in dollars.') })
  .meta({ id: 'User', description: 'An account as administrators see it.' });

export type UserOutput = z.infer<typeof userOutput>;

export const usersOutput = z.array(userOutput).describe('Accounts, newest first.');
