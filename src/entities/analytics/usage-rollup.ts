import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { countedCalls } from '../sketch-columns.js';

/**
 * Calls of one hour by account, key, widget and model. These five columns identify a row, nulls included. PostgreSQL
 * has a unique constraint over them, since a primary key can't contain null.
 */
const UsageRollupSchema = defineEntity({
  name: 'UsageRollup',
  tableName: 'usage_rollups',
  indexes: [
    { name: 'usage_rollups_account', properties: ['accountId', 'hour'] },
    { name: 'usage_rollups_errors', properties: ['accountId', 'hour'], where: 'errors > 0' },
    { name: 'usage_rollups_key', properties: ['keyId', 'hour'], where: 'key_id is not null' },
  ],
  uniques: [
    {
      name: 'usage_rollups_hour_account_id_key_id_widget_id_model_key',
      properties: ['hour', 'accountId', 'keyId', 'widgetId', 'model'],
    },
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
