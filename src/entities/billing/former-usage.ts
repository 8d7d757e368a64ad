import { defineEntity, p } from '@mikro-orm/core';

/** Until when a call may be in the table of version 1.1: a day after the upgrade; no row without such calls. */
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
