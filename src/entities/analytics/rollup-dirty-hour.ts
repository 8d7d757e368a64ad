import { defineEntity, p } from '@mikro-orm/core';

/**
 * An hour whose events have to be rolled up (again). A list that each flush only adds to: an hour may stand in it many
 * times, and no constraint keeps writers waiting for each other.
 */
const RollupDirtyHourSchema = defineEntity({
  name: 'RollupDirtyHour',
  tableName: 'rollup_dirty',
  properties: { hour: p.datetime(6).primary().index('rollup_dirty_hour') },
});

export class RollupDirtyHour extends RollupDirtyHourSchema.class {}
RollupDirtyHourSchema.setClass(RollupDirtyHour);
