import { z } from 'zod';
import { numberedConnectionInput } from '../../lib/connection-input.js';
import { changesSomething, label, NOTHING_TO_CHANGE, TRIMMED } from '../../lib/input-fields.js';
import { moneyInput } from '../../lib/money-input.js';

export { pageInput } from '../../lib/page-input.js';

/** Search and order of the list of keys. */
export const keysSearchInput = z.strictObject({
  search: z
    .string()
    .max(100, 'must be at most 100 characters')
    .nullish()
    .describe('Only keys whose name, prefix or last four characters contain this text.'),
  order_by: z
    .enum(['created', 'name', 'spend', 'used'], 'must be created, name, spend or used')
    .default('created')
    .describe('Order: newest first, by name, highest spend of the month first, or most recently used first.'),
});
/** A page of the keys that match a search. */
export const keysConnectionInput = numberedConnectionInput
  .extend(keysSearchInput.shape)
  .refine(
    ({ after, order_by }) => after === undefined || (typeof after === 'object') === (order_by === 'created'),
    {
      message: 'is not a cursor of this list',
      path: ['after'],
    },
  );
export type KeysConnectionInput = z.output<typeof keysConnectionInput>;

const name = label(100).describe(`Key name, 1 to 100 characters. ${TRIMMED}`);

export const createKeyInput = z
  .strictObject({ name })
  .meta({ id: 'CreateApiKey', description: 'A new API key.' });
export type CreateKeyInput = z.output<typeof createKeyInput>;

export const updateKeyInput = z
  .strictObject({
    name: name.optional(),
    status: z
      .enum(['active', 'disabled'], 'must be active or disabled')
      .optional()
      .describe('Key status: `active` or `disabled`. A disabled key is rejected on `/v1`.'),
    monthly_limit_usd: moneyInput
      .nullable()
      .optional()
      .describe("Monthly limit in US dollars. It triggers alerts but doesn't stop calls. Null removes it."),
    daily_limit_usd: moneyInput
      .nullable()
      .optional()
      .describe(
        'Daily limit in US dollars. Calls are rejected once it is reached; it resets at 00:00 UTC. Null removes it.',
      ),
  })
  .refine(changesSomething, NOTHING_TO_CHANGE)
  .meta({ id: 'UpdateApiKey', description: 'Changes to an API key.', minProperties: 1 });
export type UpdateKeyInput = z.output<typeof updateKeyInput>;

/** Any text: a malformed id is treated like an unknown one. */
export const keyParams = z.object({ id: z.string().describe('API key ID.') });

const DAYS = 'must be a whole number from 1 to 90';
/** The last days, today included. */
export const keyDaysInput = z.strictObject({
  days: z
    .int(DAYS)
    .min(1, DAYS)
    .max(90, DAYS)
    .default(30)
    .describe('Number of UTC days, including today; 1 to 90.'),
});
