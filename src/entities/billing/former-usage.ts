import { defineEntity, p } from '@mikro-orm/core';

/** Until when calls were written to the table of version 1.1; no row without such calls. */
const FormerUsageSchema = defineEntity({
  name: 'FormerUsage',
  tableName: 'former_usage',
  properties: {
    onlyRow: p.boolean().primary().default(true),
    until: p.datetime(6),
  },
});

export class FormerUsage extends FormerUsageSchema.class {}
FormerUsageSchema.setClass(FormerUsage);
