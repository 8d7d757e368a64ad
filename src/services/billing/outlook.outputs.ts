import { z } from 'zod';

const decimal = (description: string) =>
  z.string().describe(`${description} Exact decimal with 6 to 12 digits after the point.`);

export const BALANCE_STATES = ['fine', 'low', 'stopped'] as const;
export type BalanceState = (typeof BALANCE_STATES)[number];

export const outlookOutput = z
  .object({
    state: z
      .enum(BALANCE_STATES)
      .describe(
        '`stopped`: below $0.001, calls are refused. `low`: below a fifth of the last credit, or used up within three days at the present rate.',
      ),
    balance_usd: decimal('The balance in dollars.'),
    last_credit_usd: decimal(
      'The newest top-up, grant or starter credit in dollars; null: none is known.',
    ).nullable(),
    daily_spend_usd: decimal(
      'What calls have cost a day in dollars, over the last seven UTC days or since the first call in them.',
    ),
    days_left: z
      .number()
      .describe(
        'Days that the balance lasts at that rate; null: nothing was spent, or it lasts longer than a year.',
      )
      .nullable(),
  })
  .meta({ id: 'BalanceOutlook', description: 'How far the balance reaches.' });
export type OutlookOutput = z.infer<typeof outlookOutput>;
