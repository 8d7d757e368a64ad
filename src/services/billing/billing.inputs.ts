import { z } from 'zod';
import { oneWay, timeConnectionBothWays } from '../../lib/connection-input.js';
import { idInput } from '../../lib/input-fields.js';
import { DOLLAR } from '../../lib/money.js';
import { moneyInput } from '../../lib/money-input.js';
import { uuid } from '../../lib/output-fields.js';
import { integerInput } from '../../lib/page-input.js';
import { isUsageDay } from '../../lib/usage-day.js';

export { sequenceConnectionInput } from '../../lib/connection-input.js';
export { pageInput } from '../../lib/page-input.js';

/** Dollar amounts of a top-up. */
export const TOP_UP_AMOUNTS = [10, 25, 50, 100, 500] as const;

const ONE_OF_THEM = `must be one of ${TOP_UP_AMOUNTS.join(', ')}`;

/** One of the amounts, as a number or a decimal string; parsed to the number. */
const topUpAmount = z
  .union(
    [
      z.number().meta({ enum: TOP_UP_AMOUNTS }),
      z.string().meta({ pattern: `^(${TOP_UP_AMOUNTS.join('|')})(\\.0{1,12})?$`, examples: ['25.000000'] }),
    ],
    ONE_OF_THEM,
  )
  .transform((value, context): (typeof TOP_UP_AMOUNTS)[number] => {
    const units = moneyInput.safeParse(value).data;
    const amount = TOP_UP_AMOUNTS.find((dollars) => BigInt(dollars) * DOLLAR === units);
    if (amount !== undefined) return amount;
    context.issues.push({ code: 'custom', message: ONE_OF_THEM, input: value });
    return z.NEVER;
  });

export const topUpInput = z
  .strictObject({
    amount_usd: topUpAmount.describe(`Amount in US dollars: one of ${TOP_UP_AMOUNTS.join(', ')}.`),
  })
  .meta({ id: 'TopUp', description: 'A top-up.' });

const A_DAY = 'must be a day such as 2026-11-21';
const day = z.iso.date(A_DAY).refine(isUsageDay, A_DAY);

/** Filter for usage events. Omitted and null fields match every event. */
export const usageFilterInput = z.strictObject({
  key_id: idInput('must be the id of a key').nullish().describe('Only calls with this API key.'),
  model: z
    .string()
    .min(1, 'must be the public name of a model')
    .max(200, 'must be the public name of a model')
    .nullish()
    .describe('Only calls served by this model, given by its public name.'),
  status: z
    .enum(['success', 'error'], 'must be success or error')
    .nullish()
    .describe('Only calls with this status.'),
  window_days: integerInput(1, 90).nullish().describe('Only this many UTC days, including today; 1 to 90.'),
  day: day.nullish().describe('Only this UTC day, `YYYY-MM-DD`.'),
});
export type UsageFilterInput = z.output<typeof usageFilterInput>;

/** A page of the usage list by cursor. */
export const usageConnectionInput = timeConnectionBothWays
  .extend({ filter: usageFilterInput.nullish() })
  .refine(...oneWay);
export type UsageConnectionInput = z.output<typeof usageConnectionInput>;

/** Any text: a malformed id is treated like an unknown one. */
export const usageParams = z.object({
  id: uuid('Usage event ID: the `x-request-id` of the call.'),
});

/** Which entries of the ledger are exported. */
export const ledgerExportInput = z.strictObject({
  kind: z
    .enum(['all', 'credits', 'charges'], 'must be all, credits or charges')
    .default('all')
    .describe('Which entries: all, only credits and corrections, or only charges for calls.'),
});
export type LedgerExportInput = z.output<typeof ledgerExportInput>;

const MONTH = 'must be a month such as 2026-11';
/** A UTC month of the ledger. */
export const ledgerMonthInput = z.strictObject({
  month: z
    .string()
    .regex(/^20\d\d-(?:0[1-9]|1[0-2])$/, MONTH)
    .describe('UTC month, `YYYY-MM`.'),
});
export type LedgerMonthInput = z.output<typeof ledgerMonthInput>;

const STATEMENT = /^20\d\d-(?:0[1-9]|1[0-2])(?:\.csv)?$/;
/** Address of a statement: a UTC month, followed by `.csv` for the CSV file. */
export const statementParams = z.strictObject({
  month: z
    .string()
    .regex(STATEMENT, MONTH)
    .describe('UTC month, `YYYY-MM`. Add `.csv` to get the statement as CSV.'),
});

export const idempotencyKeyInput = z
  .string()
  .regex(/^[!-~]{1,255}$/, 'must be 1 to 255 visible ASCII characters without a space')
  .describe(
    'Repeating a request with the same key and amount returns the original balance, with the present plan, without adding credit again.',
  );

/** Not strict: requests carry many other headers. */
export const topUpHeaders = z.object({ 'idempotency-key': idempotencyKeyInput.optional() });

/** Both in one input, for GraphQL, which has no header. */
export const topUpOnceInput = topUpInput.extend({ idempotency_key: idempotencyKeyInput.optional() });

export type TopUpInput = z.output<typeof topUpInput> & { idempotencyKey?: string | undefined };
