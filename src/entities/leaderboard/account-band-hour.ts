import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { sketch } from '../sketch-columns.js';

/** Successes of one hour by account, model and length of the answer, as the leaderboard counts them. */
const AccountBandHourSchema = defineEntity({
  name: 'AccountBandHour',
  tableName: 'account_band_hours',
  indexes: [{ name: 'account_band_hours_account', properties: ['accountId', 'hour'] }],
  properties: {
    hour: p.datetime(6).primary(),
    accountId: p.uuid().primary(),
    /** The one that served. */
    model: p.text().primary(),
    /** Number of the band of output tokens, from 1 (services/leaderboard/bands.rules.ts). */
    band: p.smallint().primary(),
    successes: p.bigint(),
    inputTokens: p.bigint(),
    outputTokens: p.bigint(),
    /** Numbers of the sketch's buckets that have calls, ascending, and how many each has. */
    latencyBuckets: sketch('smallint[]'),
    latencyCounts: sketch('bigint[]'),
  },
});

export class AccountBandHour extends AccountBandHourSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'accountId', 'model', 'band'];
}
AccountBandHourSchema.setClass(AccountBandHour);
