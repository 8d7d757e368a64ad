import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { countedCalls } from '../sketch-columns.js';

/**
 * Calls of five minutes of the open hour by account, key, prompt version and model, for accounts with many of them. The table
 * isn't logged: after a crash of the database, calls are read until it is filled again.
 */
const UsageSliceSchema = defineEntity({
  name: 'UsageSlice',
  tableName: 'usage_slices',
  indexes: [{ name: 'usage_slices_account', properties: ['accountId', 'slice'] }],
  properties: {
    /** Its beginning. */
    slice: p.datetime(6).primary(),
    accountId: p.uuid().primary(),
    keyId: p.uuid().nullable().primary(),
    promptVersionId: p.uuid().nullable().primary(),
    /** The model that served the calls. */
    model: p.text().primary(),
    ...countedCalls(),
  },
});

export class UsageSlice extends UsageSliceSchema.class {
  override [PrimaryKeyProp]?: ['slice', 'accountId', 'keyId', 'promptVersionId', 'model'];
}
UsageSliceSchema.setClass(UsageSlice);
