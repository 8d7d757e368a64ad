import { z } from 'zod';
import { changesSomething, NOTHING_TO_CHANGE } from '../../lib/input-fields.js';
import { moneyInput } from '../../lib/money-input.js';

export { timeConnectionInput } from '../../lib/connection-input.js';
export { pageInput } from '../../lib/page-input.js';

const MAX_DESTINATION = 2_048;
const MAX_THRESHOLDS = 5;
const PERCENT = 'must be 1 to 100, a whole number';

const destination = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_DESTINATION)
  .describe('Mail address or URL, as the kind says. A URL must lead to a public address.');
const thresholds = z
  .array(z.int(PERCENT).min(1, PERCENT).max(100, PERCENT))
  .min(1)
  .max(MAX_THRESHOLDS)
  .refine((list) => new Set(list).size === list.length, 'must name each percentage once')
  .describe('1 to 5 different percentages of the monthly limit, each 1 to 100.');
const active = z.boolean().describe('One that is off is told nothing.');

export const createAlertInput = z
  .strictObject({
    kind: z.enum(['email', 'webhook'], 'must be email or webhook').describe('How it is told.'),
    destination,
    thresholds_pct: thresholds,
    active: active.optional(),
  })
  .meta({ id: 'CreateAlert', description: 'A new alert subscription.' });
export type CreateAlertInput = z.output<typeof createAlertInput>;

export const updateAlertInput = z
  .strictObject({
    destination: destination.optional(),
    thresholds_pct: thresholds.optional(),
    active: active.optional(),
  })
  .refine(changesSomething, NOTHING_TO_CHANGE)
  .meta({ id: 'UpdateAlert', description: 'A change of an alert subscription.', minProperties: 1 });
export type UpdateAlertInput = z.output<typeof updateAlertInput>;

/** Of a mail address; a webhook's is checked by whoever will send to it. */
export const mailDestination = z.email({ error: 'must be a mail address' }).max(254);

export const lowBalanceInput = z
  .strictObject({
    threshold_usd: moneyInput
      .nullable()
      .describe('Dollars: a mail comes when the balance falls below. Null: none comes.'),
  })
  .meta({ id: 'LowBalance', description: 'When a low balance is to be told.' });
export type LowBalanceInput = z.output<typeof lowBalanceInput>;

/** Any text: an id that is malformed answers like one that isn't there. */
export const keyParams = z.object({ id: z.string().describe('Id of the key.') });
export const alertParams = keyParams.extend({ alert_id: z.string().describe('Id of the subscription.') });
export const alertEventParams = z.object({ id: z.string().describe('Id of the alert event.') });
