import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { countedCalls } from '../sketch-columns.js';

/**
 * Calls of one hour by account, key, widget and model. These five columns identify a row, nulls included. The job writes an
 * hour in one statement under its lock: a unique index would be larger than all others.
 */
const UsageRollupSchema = defineEntity({
  name: 'UsageRollup',
  tableName: 'usage_rollups',
  indexes: [
    { name: 'usage_rollups_account', properties: ['accountId', 'hour'] },
    { name: 'usage_rollups_hour', properties: ['hour'] },
    { name: 'usage_rollups_errors', properties: ['accountId', 'hour'], where: 'errors > 0' },
    { name: 'usage_rollups_key', properties: ['keyId', 'hour'], where: 'key_id is not null' },
  ],
  properties: {
    hour: p.datetime(6).primary(),
    accountId: p.uuid().primary(),
    keyId: p.uuid().nullable().primary(),
    widgetId: p.uuid().nullable().primary(),
    /** The model that served the calls. */
    model: p.text().primary(),
    ...countedCalls(),
  },
});

export class UsageRollup extends UsageRollupSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'accountId', 'keyId', 'widgetId', 'model'];
}
UsageRollupSchema.setClass(UsageRollup);
