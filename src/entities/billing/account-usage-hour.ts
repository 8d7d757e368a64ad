import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/** How many usage events of an account completed in an hour; what pages of usage are counted by. */
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
