import { z } from 'zod';

export { sequenceConnectionInput, timeConnectionInput } from '../../lib/connection-input.js';
export { pageInput } from '../../lib/page-input.js';

const TOP_UP_AMOUNTS = [10, 25, 50, 100, 500] as const;

export const topUpInput = z.strictObject({
  amount_usd: z
    .literal(TOP_UP_AMOUNTS, `must be one of the numbers ${TOP_UP_AMOUNTS.join(', ')}`)
    .describe('Dollars.'),
});

/** An export is of everything. */
export const usageExportInput = z.strictObject({});

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
