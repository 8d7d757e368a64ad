import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { countedCalls } from '../sketch-columns.js';

/** Hourly sums of the calls with a prompt version, by account, key and model. The version may have been deleted. */
const PromptVersionHourSchema = defineEntity({
  name: 'PromptVersionHour',
  tableName: 'prompt_version_hours',
  indexes: [{ name: 'prompt_version_hours_hour', properties: ['hour'] }],
  uniques: [
    {
      name: 'prompt_version_hours_version_id_hour_account_id_key_id_mode_key',
      properties: ['versionId', 'hour', 'accountId', 'keyId', 'model'],
    },
  ],
  properties: {
    versionId: p.uuid().primary(),
    hour: p.datetime(6).primary(),
    accountId: p.uuid().primary(),
    keyId: p.uuid().nullable().primary(),
    /** The model that served the calls. */
    model: p.text().primary(),
    ...countedCalls(),
  },
});

export class PromptVersionHour extends PromptVersionHourSchema.class {
  override [PrimaryKeyProp]?: ['versionId', 'hour', 'accountId', 'keyId', 'model'];
}
PromptVersionHourSchema.setClass(PromptVersionHour);
