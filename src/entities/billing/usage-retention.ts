import { defineEntity, p } from '@mikro-orm/core';

/** From when on usage events are there; no row while none was ever removed. What was before stands in ledger and sums. */
const UsageRetentionSchema = defineEntity({
  name: 'UsageRetention',
  tableName: 'usage_retention',
  properties: {
    onlyRow: p.boolean().primary().default(true),
    /** A UTC midnight. */
    keptFrom: p.datetime(6),
  },
});

export class UsageRetention extends UsageRetentionSchema.class {}
UsageRetentionSchema.setClass(UsageRetention);
