import { z } from 'zod';
import { decimal, timestamp, uuid } from '../../lib/output-fields.js';

const kind = (description: string) => z.enum(['email', 'webhook']).describe(description);

export const alertOutput = z
  .object({
    id: uuid('Alert subscription ID.'),
    key_id: uuid('ID of the API key whose spend is monitored.'),
    kind: kind('Delivery channel: `email` or `webhook`.'),
    destination: z.string().describe('Email address or webhook URL.'),
    thresholds_pct: z.array(z.int()).describe('Percentages of the monthly limit, in ascending order.'),
    active: z.boolean().describe('Whether alerts are sent.'),
    disabled_reason: z
      .string()
      .nullable()
      .describe(
        'Why the service turned the subscription off, otherwise null. Turning it on again clears this.',
      ),
    created_at: timestamp('Creation time.'),
    updated_at: timestamp('Time of the last update.'),
  })
  .meta({
    id: 'AlertSubscription',
    description: 'A subscription to spend alerts of an API key.',
  });
export const alertsOutput = z.array(alertOutput).describe('Alert subscriptions of the key, newest first.');
export type AlertOutput = z.infer<typeof alertOutput>;

const SECRET =
  'Secret that signs deliveries to this destination (Standard Webhooks, `whsec_…`). Shown only once.';

export const createdAlertOutput = alertOutput
  .extend({ signing_secret: z.string().nullable().describe(`${SECRET} Null for email.`) })
  .meta({
    id: 'CreatedAlertSubscription',
    description: 'A new alert subscription. A webhook comes with its signing secret.',
  });
export type CreatedAlertOutput = z.infer<typeof createdAlertOutput>;

export const signingSecretOutput = z.object({ signing_secret: z.string().describe(SECRET) }).meta({
  id: 'SigningSecret',
  description:
    'A new signing secret. Deliveries are also signed with the previous secret until the next rotation.',
});
export type SigningSecretOutput = z.infer<typeof signingSecretOutput>;

export const alertEventOutput = z
  .object({
    id: uuid('Event ID, sent as `webhook-id` with every delivery attempt.'),
    purpose: z
      .enum(['threshold', 'test', 'low_balance', 'guard'])
      .describe('Reason for the alert: a spend threshold, a test, a low balance, or a guard that acted.'),
    key_id: uuid('API key ID. Null for a low balance.').nullable(),
    key_name: z.string().nullable().describe('Name of the key when the alert fired. Null for a low balance.'),
    subscription_id: uuid(
      'Alert subscription ID. Null for a low balance, and for a guard of a key without active subscriptions.',
    ).nullable(),
    kind: kind('Delivery channel: `email` or `webhook`.'),
    destination: z.string().describe('Email address or webhook URL the alert was sent to.'),
    threshold_pct: z.int().nullable().describe('Percentage of the monthly limit. Null for a low balance.'),
    billing_month: z.string().nullable().describe('UTC month, `YYYY-MM`. Null for a low balance.'),
    mtd_spend_usd: decimal(
      'Month-to-date spend of the key in US dollars. Null for a low balance.',
    ).nullable(),
    monthly_limit_usd: decimal(
      'Monthly limit of the key at that time in US dollars, if it had one.',
    ).nullable(),
    balance_usd: decimal(
      'Account balance in US dollars. Null unless the alert is about a low balance.',
    ).nullable(),
    guard_action: z
      .enum(['disable', 'slow', 'fallback_model'])
      .nullable()
      .describe('What the guard of the key did at this percentage. Null if it did nothing.'),
    guard_model_public_name: z
      .string()
      .nullable()
      .describe('Model that the guard moved calls to. Null unless its action is `fallback_model`.'),
    fired_at: timestamp('Time the alert fired.'),
    delivery_status: z
      .enum(['pending', 'sent', 'failed', 'degraded'])
      .describe(
        'Delivery status. `degraded` means recorded but not emailed; `error_message` gives the reason.',
      ),
    attempts: z.int().describe('Delivery attempts since the alert was last requested, at most 3.'),
    response_code: z
      .int()
      .nullable()
      .describe(
        'HTTP status of the last attempt, or for email the SMTP reply code, if the receiver responded.',
      ),
    error_message: z.string().nullable().describe('Why the delivery failed, or why no email was sent.'),
    finished_at: timestamp('Time the delivery ended. Null while it is pending.').nullable(),
  })
  .meta({ id: 'AlertEvent', description: 'An alert sent to one destination.' });
export const alertEventsOutput = z.array(alertEventOutput).describe('Alert events, newest first.');
export type AlertEventOutput = z.infer<typeof alertEventOutput>;

export const lowBalanceOutput = z
  .object({
    threshold_usd: decimal(
      'Balance in US dollars below which an email is sent. Null if the alert is off.',
    ).nullable(),
  })
  .meta({
    id: 'LowBalanceAlert',
    description:
      'The low-balance alert. It is sent once, and again only after the balance has recovered to the threshold.',
  });
export type LowBalanceOutput = z.infer<typeof lowBalanceOutput>;
