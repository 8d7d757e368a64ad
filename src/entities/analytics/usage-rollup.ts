import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/**
 * Calls of one hour by account, key, widget and model. Those five tell rows apart, nulls included; PostgreSQL has a
 * unique constraint over them, since a primary key takes no null.
 */
const UsageRollupSchema = defineEntity({
  name: 'UsageRollup',
  tableName: 'usage_rollups',
  indexes: [
    { name: 'usage_rollups_account', properties: ['accountId', 'hour'] },
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
    /** The one that served. */
    model: p.text().primary(),
    requests: p.bigint(),
    errors: p.bigint(),
    inputTokens: p.bigint(),
    outputTokens: p.bigint(),
    /** Dollars. */
    cost: p.decimal().columnType('numeric'),
    /** Numbers of the sketch's buckets that have calls, ascending, and how many each has. */
    latencyBuckets: p.array((text) => Number(text)).columnType('smallint[]'),
    latencyCounts: p.array((text) => Number(text)).columnType('integer[]'),
  },
});

export class UsageRollup extends UsageRollupSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'accountId', 'keyId', 'widgetId', 'model'];
}
UsageRollupSchema.setClass(UsageRollup);
