import { defineEntity, p } from '@mikro-orm/core';

/** Up to `seq`, an account's ledger is proven; `total` is the sum of its amounts up to there. */
const AuditSealSchema = defineEntity({
  name: 'AuditSeal',
  tableName: 'audit_seals',
  properties: {
    accountId: p.uuid().primary(),
    seq: p.bigint('number'),
    total: p.decimal().precision(24).scale(12),
  },
});

export class AuditSeal extends AuditSealSchema.class {}
AuditSealSchema.setClass(AuditSeal);
