import { z } from 'zod';
import { numberedConnectionInput } from '../../lib/connection-input.js';
import {
  changesSomething,
  EXPECTED,
  label,
  NOTHING_TO_CHANGE,
  TRIMMED,
  wholeInput,
} from '../../lib/input-fields.js';
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

const GUARD_MODEL = 'must name a model if the action is fallback_model, and only then';

export const keyGuardInput = z
  .strictObject({
    at_pct: wholeInput(1, 100).describe('Percentage of the monthly limit at which the guard acts, 1 to 100.'),
    action: z
      .enum(['disable', 'slow', 'fallback_model'], 'must be disable, slow or fallback_model')
      .describe(
        '`disable` rejects calls, `slow` allows a tenth of them, `fallback_model` moves them to another model.',
      ),
    model_public_name: z
      .string()
      .max(200)
      .nullish()
      .describe('Model for `fallback_model`: a chat model of your plan. Null for other actions.'),
  })
  .refine(({ action, model_public_name: model }) => (action === 'fallback_model') === (model != null), {
    message: GUARD_MODEL,
    path: ['model_public_name'],
  })
  .meta({
    id: 'SetKeyGuard',
    description: 'What to do when the spend of an API key reaches a percentage of its monthly limit.',
  });
export type KeyGuardInput = z.output<typeof keyGuardInput>;

const fields = {
  name: name.optional(),
  monthly_limit_usd: moneyInput
    .nullable()
    .optional()
    .describe(
      "Monthly limit in US dollars. It triggers alerts and the guard but doesn't stop calls itself. Null removes it.",
    ),
  daily_limit_usd: moneyInput
    .nullable()
    .optional()
    .describe(
      'Daily limit in US dollars. Calls are rejected once it is reached; it resets at 00:00 UTC. Null removes it.',
    ),
  guard: keyGuardInput
    .nullable()
    .optional()
    .describe(
      'What to do at a percentage of the monthly limit. Setting it, even to the same value, lets it act again this month. Null removes it.',
    ),
};

export const expectedKeyInput = z
  .strictObject({
    name: fields.name.describe('Key name.'),
    monthly_limit_usd: fields.monthly_limit_usd.describe('Monthly limit in US dollars, or null.'),
    daily_limit_usd: fields.daily_limit_usd.describe('Daily limit in US dollars, or null.'),
    guard: fields.guard.describe('The guard, or null.'),
  })
  .meta({ id: 'ExpectedApiKey', description: EXPECTED });

export type ExpectedKeyInput = z.output<typeof expectedKeyInput>;

export const updateKeyInput = z
  .strictObject({
    ...fields,
    status: z
      .enum(['active', 'disabled'], 'must be active or disabled')
      .optional()
      .describe('Key status: `active` or `disabled`. A disabled key is rejected on `/v1`.'),
    expected: expectedKeyInput.optional().describe(EXPECTED),
  })
  .refine(changesSomething, NOTHING_TO_CHANGE)
  .meta({ id: 'UpdateApiKey', description: 'Changes to an API key.', minProperties: 1 });
export type UpdateKeyInput = z.output<typeof updateKeyInput>;

export const undoGuardInput = z.strictObject({ expected: updateKeyInput.shape.expected }).nullish().meta({
  id: 'UndoKeyGuard',
  description: "The guard's expected state; fails with 409 `changed_meanwhile` if it changed. Optional.",
});

/** Any text: a malformed id is treated like an unknown one. */
export const keyParams = z.object({ id: z.string().describe('API key ID.') });

/** Number of days, including today. */
export const keyDaysInput = z.strictObject({
  days: wholeInput(1, 90).default(30).describe('Number of UTC days, including today; 1 to 90.'),
});
