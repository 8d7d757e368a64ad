import { z } from 'zod';
import { decimal, timestamp, uuid } from '../../lib/output-fields.js';

const kind = (description: string) => z.enum(['email', 'webhook']).describe(description);

export const alertOutput = z
  .object({
    id: uuid('Id of the subscription.'),
    key_id: uuid('Key whose spend it watches.'),
    kind: kind('How it is told.'),
    destination: z.string().describe('Mail address or URL.'),
    thresholds_pct: z.array(z.int()).describe('Percentages of the monthly limit, ascending.'),
    active: z.boolean().describe('One that is off is told nothing.'),
    disabled_reason: z
      .string()
      .nullable()
      .describe('Why the service switched it off; null unless it did. Switching it on clears it.'),
    created_at: timestamp('Time of its making.'),
    updated_at: timestamp('Time of its last change.'),
  })
  .meta({
    id: 'AlertSubscription',
    description: 'Who is told when a key has spent certain percentages of its monthly limit.',
  });
export const alertsOutput = z.array(alertOutput).describe('Subscriptions of a key, newest first.');
export type AlertOutput = z.infer<typeof alertOutput>;

const SECRET =
  'Secret that signs deliveries to this destination (Standard Webhooks, `whsec_…`). It is shown this once.';

export const createdAlertOutput = alertOutput
  .extend({ signing_secret: z.string().nullable().describe(`${SECRET} Null for mail.`) })
  .meta({ id: 'CreatedAlertSubscription', description: 'A new subscription, a webhook with its secret.' });
export type CreatedAlertOutput = z.infer<typeof createdAlertOutput>;

export const signingSecretOutput = z.object({ signing_secret: z.string().describe(SECRET) }).meta({
  id: 'SigningSecret',
  description: 'A new secret. The one before goes on signing beside it until the next change.',
});
export type SigningSecretOutput = z.infer<typeof signingSecretOutput>;

export const alertEventOutput = z
  .object({
    id: uuid('Id of the event and of its delivery: `webhook-id`, the same in every attempt.'),
    purpose: z
      .enum(['threshold', 'test', 'low_balance'])
      .describe('A threshold was reached, its owner asked for a test, or the balance became low.'),
    key_id: uuid('Key concerned; null for a low balance.').nullable(),
    key_name: z.string().nullable().describe('Its label when it fired; null for a low balance.'),
    subscription_id: uuid('Subscription that was told; null for a low balance.').nullable(),
    kind: kind('How it was told.'),
    destination: z.string().describe('Mail address or URL that was told.'),
    threshold_pct: z.int().nullable().describe('Percentage of the monthly limit; null for a low balance.'),
    billing_month: z.string().nullable().describe('UTC month, `YYYY-MM`; null for a low balance.'),
    mtd_spend_usd: decimal('Dollars that the key had spent in the month; null for a low balance.').nullable(),
    monthly_limit_usd: decimal('Monthly limit of the key at that time, if it had one.').nullable(),
    balance_usd: decimal('Balance of the account; only for a low balance.').nullable(),
    fired_at: timestamp('Time at which it fired.'),
    delivery_status: z
      .enum(['pending', 'sent', 'failed', 'degraded'])
      .describe(
        'How the delivery stands; `degraded`: recorded, but not mailed, for the reason that is given.',
      ),
    attempts: z.int().describe('Attempts since it was asked for last, at most 3.'),
    response_code: z.int().nullable().describe('HTTP status of the last attempt, if there was an answer.'),
    error_message: z.string().nullable().describe('Why the delivery failed, or why nothing was mailed.'),
    finished_at: timestamp('Time at which the delivery ended; null while it is pending.').nullable(),
  })
  .meta({ id: 'AlertEvent', description: 'One thing that was told to one destination.' });
export const alertEventsOutput = z.array(alertEventOutput).describe('Alert events, newest first.');
export type AlertEventOutput = z.infer<typeof alertEventOutput>;

export const lowBalanceOutput = z
  .object({
    threshold_usd: decimal('Dollars below which a mail comes; null: none comes.').nullable(),
  })
  .meta({
    id: 'LowBalanceAlert',
    description: 'When a low balance is told by mail: once, until a credit lifts it to the threshold again.',
  });
export type LowBalanceOutput = z.infer<typeof lowBalanceOutput>;
