import { z } from 'zod';
import { moneyInput } from '../../lib/money-input.js';

export { pageInput } from '../../lib/page-input.js';

/** A NUL is no text for PostgreSQL, and other control characters or half a surrogate pair are no label. */
const name = z
  .string('must be a text')
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must not hold control characters')
  .describe('Label chosen by the owner');

export const createKeyInput = z.strictObject({ name });
export type CreateKeyInput = z.output<typeof createKeyInput>;

export const updateKeyInput = z
  .strictObject({
    name: name.optional(),
    status: z
      .enum(['active', 'disabled'], 'must be active or disabled')
      .optional()
      .describe('A disabled key is refused on /v1'),
    monthly_limit_usd: moneyInput.nullable().optional().describe('Basis of alerts, no hard cap; null clears'),
    daily_limit_usd: moneyInput.nullable().optional().describe('Hard cap per UTC day; null clears'),
  })
  .refine((input) => Object.values(input).some((value) => value !== undefined), 'there is nothing to change');
export type UpdateKeyInput = z.output<typeof updateKeyInput>;

/** Any text: an id that is malformed answers like one that isn't there. */
export const keyParams = z.object({ id: z.string() });
