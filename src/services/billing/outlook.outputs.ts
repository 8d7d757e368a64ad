import { z } from 'zod';
import { decimal } from '../../lib/output-fields.js';

export const BALANCE_STATES = ['fine', 'low', 'stopped'] as const;
export type BalanceState = (typeof BALANCE_STATES)[number];

export const outlookOutput = z
  .object({
    state: z
      .enum(BALANCE_STATES)
      .describe(
        '`stopped`: below $0.001, calls are rejected. `low`: below a fifth of the last credit, or used up within three days at the present rate.',
      ),
    balance_usd: decimal('The balance in dollars.'),
    last_credit_usd: decimal(
      'Latest top-up, grant or starter credit in dollars; null if none is known.',
    ).nullable(),
    daily_spend_usd: decimal(
      'Average spend per day in dollars, over the last seven UTC days or since the first call in them.',
    ),
    days_left: z
      .number()
      .describe(
        'Days the balance lasts at that rate; null if nothing was spent or it lasts longer than a year.',
      )
      .nullable(),
  })
  .meta({ id: 'BalanceOutlook', description: 'How long the balance lasts.' });
export type OutlookOutput = z.infer<typeof outlookOutput>;
