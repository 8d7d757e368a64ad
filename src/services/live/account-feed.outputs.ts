import { z } from 'zod';
import { decimal } from '../../lib/output-fields.js';

export const ACCOUNT_PARTS = ['balance', 'plan', 'keys', 'refused_calls'] as const;

export const accountChangeOutput = z
  .object({
    changed: z
      .array(z.enum(ACCOUNT_PARTS))
      .describe('Parts that changed since the previous event; at least one.'),
    balance_usd: decimal('Current balance in dollars.'),
    plan_name: z.string().describe('Current plan.'),
  })
  .meta({ id: 'AccountChange', description: 'Changes of an account and its current state.' });
export type AccountChangeOutput = z.infer<typeof accountChangeOutput>;
