import { defineEntity, p } from '@mikro-orm/core';

/** The newest audit of everything, and how far it has come; null once it has ended. */
const AuditRoundSchema = defineEntity({
  name: 'AuditRound',
  tableName: 'audit_rounds',
  properties: {
    onlyRow: p.boolean().primary().default(true),
    beganAt: p.datetime(6),
    position: p.json<Record<string, string | null>>().nullable(),
  },
});

export class AuditRound extends AuditRoundSchema.class {}
AuditRoundSchema.setClass(AuditRound);
