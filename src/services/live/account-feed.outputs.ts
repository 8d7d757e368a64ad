import { z } from 'zod';

export const ACCOUNT_PARTS = ['balance', 'plan', 'keys', 'refused_calls'] as const;
export type AccountPart = (typeof ACCOUNT_PARTS)[number];

export const accountChangeOutput = z
  .object({
    changed: z
      .array(z.enum(ACCOUNT_PARTS))
      .describe('What is not as it was when the event before was told, at least one of them.'),
    balance_usd: z
      .string()
      .describe('The balance in dollars now. Exact decimal with 6 to 12 digits after the point.'),
    plan_name: z.string().describe('The plan now.'),
  })
  .meta({ id: 'AccountChange', description: 'What has changed of an account, and how it stands now.' });
export type AccountChangeOutput = z.infer<typeof accountChangeOutput>;
