import { z } from 'zod';
import { changesSomething, label, NOTHING_TO_CHANGE, TRIMMED } from '../../lib/input-fields.js';
import { moneyInput } from '../../lib/money-input.js';

export { timeConnectionInput } from '../../lib/connection-input.js';
export { pageInput } from '../../lib/page-input.js';

const name = label(100).describe(`Label chosen by the owner; 1 to 100 characters. ${TRIMMED}`);

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
      .describe('A disabled key is refused on `/v1`.'),
    monthly_limit_usd: moneyInput
      .nullable()
      .optional()
      .describe('Dollars, the basis of alerts and no hard cap; null clears.'),
    daily_limit_usd: moneyInput
      .nullable()
      .optional()
      .describe('Dollars, the hard cap per UTC day; null clears.'),
  })
  .refine(changesSomething, NOTHING_TO_CHANGE)
  .meta({ id: 'UpdateApiKey', description: 'A change of an API key.', minProperties: 1 });
export type UpdateKeyInput = z.output<typeof updateKeyInput>;

/** Any text: an id that is malformed answers like one that isn't there. */
export const keyParams = z.object({ id: z.string().describe('Id of the key.') });

const DAYS = 'must be 1 to 90, a whole number';
/** The last days, today included. */
export const keyDaysInput = z.strictObject({
  days: z.int(DAYS).min(1, DAYS).max(90, DAYS).default(30).describe('Days to tell, today included, 1 to 90.'),
});
