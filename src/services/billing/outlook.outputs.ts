import { z } from 'zod';
import { decimal } from '../../lib/output-fields.js';

export const BALANCE_STATES = ['fine', 'low', 'stopped'] as const;
export type BalanceState = (typeof BALANCE_STATES)[number];

export const outlookOutput = z
  .object({
    state: z
      .enum(BALANCE_STATES)
      .describe(
        'State: `stopped` if the balance is below $0.001 and calls are rejected, `low` if it is below a fifth of the last credit or lasts less than three days at the current rate, otherwise `fine`.',
      ),
    balance_usd: decimal('Credit balance in US dollars.'),
    last_credit_usd: decimal(
      'Latest top-up, grant or starter credit in US dollars; null without one.',
    ).nullable(),
    daily_spend_usd: decimal(
      'Average spend per day in US dollars, over the last seven UTC days or since the first call within them.',
    ),
    days_left: z
      .number()
      .describe(
        'Number of days the balance lasts at that rate; null if nothing was spent or it lasts longer than a year.',
      )
      .nullable(),
  })
  .meta({ id: 'BalanceOutlook', description: 'How long the balance lasts.' });
export type OutlookOutput = z.infer<typeof outlookOutput>;
