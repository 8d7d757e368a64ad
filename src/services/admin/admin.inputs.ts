import { z } from 'zod';
import { label, TRIMMED } from '../../lib/input-fields.js';
import { signedMoneyInput } from '../../lib/money-input.js';
import { pageInput } from '../../lib/page-input.js';
import { idOrText } from '../../lib/uuid.js';

const adjustmentKey = z
  .string()
  .regex(/^[!-~]{1,200}$/, 'must be 1 to 200 visible ASCII characters without a space')
  .optional()
  .describe('Repeating a request with the same key and amount has no further effect.');

export const adjustCreditInput = z
  .strictObject({
    amount_usd: signedMoneyInput
      .refine((amount) => amount !== 0n, 'must not be 0')
      .describe('US dollars to add, or to take away if negative. The balance may become negative.'),
    reason: label(500).describe(
      `Reason, 1 to 500 characters. It is in the audit log and, as its description, in the ledger of the account. ${TRIMMED}`,
    ),
    idempotency_key: adjustmentKey,
  })
  .meta({ id: 'AdjustCredit', description: 'A correction of the balance of an account.' });
export type AdjustCreditInput = z.output<typeof adjustCreditInput>;

/** Not strict: requests carry many other headers. */
export const adjustCreditHeaders = z.object({ 'idempotency-key': adjustmentKey });

export const listActionsInput = pageInput.extend({
  subject_id: label(200)
    .overwrite(idOrText)
    .optional()
    .describe(`Only actions on this object: the ID of an account or node, or a model's name. ${TRIMMED}`),
  action: label(100)
    .optional()
    .describe(`Only actions that begin with this, such as \`node.\` or \`node.update\`. ${TRIMMED}`),
  actor_id: label(100)
    .optional()
    .describe(`Only actions of the administrator with this account ID. ${TRIMMED}`),
});
export type ListActionsInput = z.output<typeof listActionsInput>;
