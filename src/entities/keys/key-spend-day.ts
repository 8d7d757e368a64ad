import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/** Spend of a key on a UTC day. Outlives its key. */
const KeySpendDaySchema = defineEntity({
  name: 'KeySpendDay',
  tableName: 'key_spend_days',
  properties: {
    keyId: p.uuid().primary(),
    /** `YYYY-MM-DD`. */
    day: p.date().primary(),
    /** Dollars. */
    spend: p.decimal().precision(24).scale(12),
    lastUsedAt: p.datetime(6).nullable(),
  },
});

export class KeySpendDay extends KeySpendDaySchema.class {
  override [PrimaryKeyProp]?: ['keyId', 'day'];
}
KeySpendDaySchema.setClass(KeySpendDay);
