import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/** Number of usage events of an account that completed in an hour, for the pages of usage. */
const AccountUsageHourSchema = defineEntity({
  name: 'AccountUsageHour',
  tableName: 'account_usage_hours',
  properties: {
    accountId: p.uuid().primary(),
    hour: p.datetime(6).primary(),
    events: p.integer(),
  },
});

export class AccountUsageHour extends AccountUsageHourSchema.class {
  override [PrimaryKeyProp]?: ['accountId', 'hour'];
}
AccountUsageHourSchema.setClass(AccountUsageHour);
