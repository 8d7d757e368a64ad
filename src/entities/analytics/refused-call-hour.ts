import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/** Refused calls of one hour, by account, key, error code and model. They cost nothing. */
const RefusedCallHourSchema = defineEntity({
  name: 'RefusedCallHour',
  tableName: 'refused_call_hours',
  indexes: [{ name: 'refused_call_hours_hour', properties: ['hour'] }],
  properties: {
    accountId: p.uuid().primary(),
    hour: p.datetime(6).primary(),
    /** The key may have been deleted. */
    keyId: p.uuid().primary(),
    /** A code of src/errors.ts. */
    code: p.text().primary(),
    /** A model of the catalog; empty if the call named none, or an unknown one. */
    model: p.text().primary(),
    calls: p.bigint(),
    lastAt: p.datetime(6),
    /** IDs of the latest calls, newest first; removed after 30 days. */
    ids: p.array().columnType('uuid[]').default([]).lazy(),
  },
});

export class RefusedCallHour extends RefusedCallHourSchema.class {
  override [PrimaryKeyProp]?: ['accountId', 'hour', 'keyId', 'code', 'model'];
}
RefusedCallHourSchema.setClass(RefusedCallHour);
