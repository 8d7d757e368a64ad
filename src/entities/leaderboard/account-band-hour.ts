import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { sketch } from '../sketch-columns.js';

/** Successful calls of one hour by account, model and answer length, as the leaderboard counts them. */
const AccountBandHourSchema = defineEntity({
  name: 'AccountBandHour',
  tableName: 'account_band_hours',
  indexes: [{ name: 'account_band_hours_account', properties: ['accountId', 'hour'] }],
  properties: {
    hour: p.datetime(6).primary(),
    accountId: p.uuid().primary(),
    /** The model that served the calls. */
    model: p.text().primary(),
    /** Band of output tokens, from 1 (services/leaderboard/bands.rules.ts). */
    band: p.smallint().primary(),
    successes: p.bigint(),
    inputTokens: p.bigint(),
    outputTokens: p.bigint(),
    /** Indexes of the sketch's non-empty buckets, ascending, and the number of calls in each. */
    latencyBuckets: sketch('smallint[]'),
    latencyCounts: sketch('bigint[]'),
  },
});

export class AccountBandHour extends AccountBandHourSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'accountId', 'model', 'band'];
}
AccountBandHourSchema.setClass(AccountBandHour);
