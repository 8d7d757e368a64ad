import { defineEntity, p } from '@mikro-orm/core';

/**
 * An hour whose events have to be rolled up (again). Flushes only append to this list: an hour may be on it many
 * times, and no constraint makes writers wait for each other.
 */
const RollupDirtyHourSchema = defineEntity({
  name: 'RollupDirtyHour',
  tableName: 'rollup_dirty',
  properties: { hour: p.datetime(6).primary().index('rollup_dirty_hour') },
});

export class RollupDirtyHour extends RollupDirtyHourSchema.class {}
RollupDirtyHourSchema.setClass(RollupDirtyHour);
