import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/** Calls of one hour by model and account, served or requested: the leaderboard hides figures of too few accounts. */
const ModelAccountHourSchema = defineEntity({
  name: 'ModelAccountHour',
  tableName: 'model_account_hours',
  properties: {
    hour: p.datetime(6).primary(),
    model: p.text().primary(),
    accountId: p.uuid().primary(),
    requests: p.bigint(),
  },
});

export class ModelAccountHour extends ModelAccountHourSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'model', 'accountId'];
}
ModelAccountHourSchema.setClass(ModelAccountHour);
