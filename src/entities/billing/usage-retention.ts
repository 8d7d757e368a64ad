import { defineEntity, p } from '@mikro-orm/core';

/** The time from which usage events are kept; no row until the first removal. Earlier usage remains in ledger and roll-ups. */
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
