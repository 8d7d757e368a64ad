import { z } from 'zod';
import { timeConnectionInput } from '../../lib/connection-input.js';
import { integer } from '../../lib/page-input.js';

export { sequenceConnectionInput } from '../../lib/connection-input.js';
export { pageInput } from '../../lib/page-input.js';

const TOP_UP_AMOUNTS = [10, 25, 50, 100, 500] as const;

export const topUpInput = z.strictObject({
  amount_usd: z
    .literal(TOP_UP_AMOUNTS, `must be one of the numbers ${TOP_UP_AMOUNTS.join(', ')}`)
    .describe('Dollars.'),
});

/** Which usage events are meant; what isn't named doesn't narrow. Null counts as not named. */
export const usageFilterInput = z.strictObject({
  key_id: z.uuid('must be the id of a key').nullish().describe('Only calls with this API key.'),
  model: z
    .string()
    .min(1, 'must be the public name of a model')
    .max(200, 'must be the public name of a model')
    .nullish()
    .describe('Only calls that this model served, by its public name.'),
  status: z
    .enum(['success', 'error'], 'must be success or error')
    .nullish()
    .describe('Only calls that ended like this.'),
  window_days: integer(1, 90).nullish().describe('Only the last so many UTC days, today included; 1 to 90.'),
});
export type UsageFilterInput = z.output<typeof usageFilterInput>;

/** A page of the usage list by position. */
export const usageConnectionInput = timeConnectionInput.extend({ filter: usageFilterInput.nullish() });
export type UsageConnectionInput = z.output<typeof usageConnectionInput>;

/** Of the `Idempotency-Key` header. */
export const idempotencyKeyInput = z
  .string()
  .regex(/^[!-~]{1,255}$/, 'must be 1 to 255 visible ASCII characters without a space')
  .describe('A repeat with the same key and amount gets the first answer and moves no money.');

/** Not strict: a request carries many other headers. */
export const topUpHeaders = z.object({ 'idempotency-key': idempotencyKeyInput.optional() });

/** Where there is no header: the same in one input. */
export const topUpOnceInput = topUpInput.extend({ idempotency_key: idempotencyKeyInput.optional() });

export type TopUpInput = z.output<typeof topUpInput> & { idempotencyKey?: string | undefined };
