import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/** Calls of one hour that the edge refused, by account, key, error code and model. They cost nothing. */
const RefusedCallHourSchema = defineEntity({
  name: 'RefusedCallHour',
  tableName: 'refused_call_hours',
  indexes: [{ name: 'refused_call_hours_hour', properties: ['hour'] }],
  properties: {
    accountId: p.uuid().primary(),
    hour: p.datetime(6).primary(),
    /** The key may be deleted by now. */
    keyId: p.uuid().primary(),
    /** Of the error table (src/errors.ts). */
    code: p.text().primary(),
    /** A model of the catalog; empty: the call named none, or one that isn't ours. */
    model: p.text().primary(),
    calls: p.bigint(),
    lastAt: p.datetime(6),
    /** Of the latest calls, the latest first; none after 30 days. */
    ids: p.array().columnType('uuid[]').default([]).lazy(),
  },
});

export class RefusedCallHour extends RefusedCallHourSchema.class {
  override [PrimaryKeyProp]?: ['accountId', 'hour', 'keyId', 'code', 'model'];
}
RefusedCallHourSchema.setClass(RefusedCallHour);
