import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { sketch } from '../sketch-columns.js';

/** Latencies of one hour by model and length of the answer, over all accounts. */
const ModelBandHourSchema = defineEntity({
  name: 'ModelBandHour',
  tableName: 'model_band_hours',
  properties: {
    hour: p.datetime(6).primary(),
    model: p.text().primary(),
    /** Number of the band of output tokens, from 1 (services/leaderboard/bands.rules.ts). */
    band: p.smallint().primary(),
    /** Numbers of the sketch's buckets that have calls, ascending, and how many each has. */
    latencyBuckets: sketch('smallint[]'),
    latencyCounts: sketch('bigint[]'),
  },
});

export class ModelBandHour extends ModelBandHourSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'model', 'band'];
}
ModelBandHourSchema.setClass(ModelBandHour);
