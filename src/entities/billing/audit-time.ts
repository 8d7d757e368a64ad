import { defineEntity, p } from '@mikro-orm/core';

/** A stretch of time whose calls, or their sums, have changed since the audit last proved them. The same may be listed many times. */
const AuditTimeSchema = defineEntity({
  name: 'AuditTime',
  tableName: 'audit_times',
  properties: {
    id: p.bigint('number').primary().generated('identity'),
    since: p.datetime(6),
    until: p.datetime(6),
  },
});

export class AuditTime extends AuditTimeSchema.class {}
AuditTimeSchema.setClass(AuditTime);
