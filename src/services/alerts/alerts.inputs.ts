import { z } from 'zod';
import { changesSomething, EXPECTED, isStorable, NOTHING_TO_CHANGE } from '../../lib/input-fields.js';
import { moneyInput } from '../../lib/money-input.js';

export { timeConnectionInput } from '../../lib/connection-input.js';
export { pageInput } from '../../lib/page-input.js';

const MAX_DESTINATION = 2_048;
const MAX_THRESHOLDS = 5;
const PERCENT = 'must be a whole number from 1 to 100';

const destination = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_DESTINATION)
  .refine(isStorable, 'must be text without NUL characters')
  .describe('Email address or webhook URL, depending on `kind`. A URL must resolve to public addresses.');
const thresholds = z
  .array(z.int(PERCENT).min(1, PERCENT).max(100, PERCENT))
  .min(1)
  .max(MAX_THRESHOLDS)
  .refine((list) => new Set(list).size === list.length, 'must not repeat a percentage')
  .describe('One to five distinct percentages of the monthly limit, each from 1 to 100.');
const active = z.boolean().describe('Whether alerts are sent.');

export const createAlertInput = z
  .strictObject({
    kind: z
      .enum(['email', 'webhook'], 'must be email or webhook')
      .describe('Delivery channel: `email` or `webhook`.'),
    destination,
    thresholds_pct: thresholds,
    active: active.optional(),
  })
  .meta({ id: 'CreateAlert', description: 'A new alert subscription.' });
export type CreateAlertInput = z.output<typeof createAlertInput>;

const alertFields = {
  destination: destination.optional(),
  thresholds_pct: thresholds.optional(),
  active: active.optional(),
};

export const expectedAlertInput = z
  .strictObject(alertFields)
  .meta({ id: 'ExpectedAlert', description: EXPECTED });

export const updateAlertInput = z
  .strictObject({ ...alertFields, expected: expectedAlertInput.optional().describe(EXPECTED) })
  .refine(changesSomething, NOTHING_TO_CHANGE)
  .meta({ id: 'UpdateAlert', description: 'Changes to an alert subscription.', minProperties: 1 });
export type UpdateAlertInput = z.output<typeof updateAlertInput>;

const threshold = moneyInput
  .nullable()
  .describe('Balance in US dollars below which an email is sent. Null turns the alert off.');

export const expectedLowBalanceInput = z
  .strictObject({ threshold_usd: threshold })
  .meta({ id: 'ExpectedLowBalance', description: EXPECTED });

export const lowBalanceInput = z
  .strictObject({
    threshold_usd: threshold,
    expected: expectedLowBalanceInput.optional().describe(EXPECTED),
  })
  .meta({ id: 'LowBalance', description: 'The low-balance threshold.' });
export type LowBalanceInput = z.output<typeof lowBalanceInput>;

/** Any text: a malformed id is treated like an unknown one. */
export const alertKeyParams = z.object({ id: z.string().describe('API key ID.') });
export const alertParams = alertKeyParams.extend({ alert_id: z.string().describe('Alert subscription ID.') });
export const alertEventParams = z.object({ id: z.string().describe('Alert event ID.') });
