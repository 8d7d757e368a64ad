import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { sketch } from '../sketch-columns.js';

/** Latencies of one hour by model and answer length, over all accounts. */
const ModelBandHourSchema = defineEntity({
  name: 'ModelBandHour',
  tableName: 'model_band_hours',
  properties: {
    hour: p.datetime(6).primary(),
    model: p.text().primary(),
    /** Band of output tokens, from 1 (services/leaderboard/bands.rules.ts). */
    band: p.smallint().primary(),
    /** Indexes of the sketch's non-empty buckets, ascending, and the number of calls in each. */
    latencyBuckets: sketch('smallint[]'),
    latencyCounts: sketch('bigint[]'),
  },
});

export class ModelBandHour extends ModelBandHourSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'model', 'band'];
}
ModelBandHourSchema.setClass(ModelBandHour);
