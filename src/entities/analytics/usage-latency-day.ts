import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { sketch } from '../sketch-columns.js';

/** Latencies and cost of one UTC day by account, key and widget, merged from its hours. */
const UsageLatencyDaySchema = defineEntity({
  name: 'UsageLatencyDay',
  tableName: 'usage_latency_days',
  indexes: [
    { name: 'usage_latency_days_account', properties: ['accountId', 'day'] },
    { name: 'usage_latency_days_key', properties: ['keyId', 'day'], where: 'key_id is not null' },
  ],
  uniques: [
    {
      name: 'usage_latency_days_day_account_id_key_id_widget_id_key',
      properties: ['day', 'accountId', 'keyId', 'widgetId'],
    },
  ],
  properties: {
    /** `YYYY-MM-DD`. */
    day: p.date().primary(),
    accountId: p.uuid().primary(),
    keyId: p.uuid().nullable().primary(),
    widgetId: p.uuid().nullable().primary(),
    latencyBuckets: sketch('smallint[]'),
    latencyCounts: sketch('bigint[]'),
    /** Dollars; null if a build before `Migration20261217000000` has merged the day. */
    cost: p.decimal().columnType('numeric').nullable(),
  },
});

export class UsageLatencyDay extends UsageLatencyDaySchema.class {
  override [PrimaryKeyProp]?: ['day', 'accountId', 'keyId', 'widgetId'];
}
UsageLatencyDaySchema.setClass(UsageLatencyDay);
