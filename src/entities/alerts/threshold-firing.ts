import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/** A percentage of a key's monthly limit was reached: once per key, UTC month and percentage. */
const ThresholdFiringSchema = defineEntity({
  name: 'ThresholdFiring',
  tableName: 'threshold_firings',
  properties: {
    keyId: p.uuid().primary(),
    /** `YYYY-MM`. */
    month: p.text().primary(),
    thresholdPct: p.smallint().primary(),
    firedAt: p.datetime(6),
  },
});

export class ThresholdFiring extends ThresholdFiringSchema.class {
  override [PrimaryKeyProp]?: ['keyId', 'month', 'thresholdPct'];
}
ThresholdFiringSchema.setClass(ThresholdFiring);
