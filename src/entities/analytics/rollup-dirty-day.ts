import { defineEntity, p } from '@mikro-orm/core';

/** A day whose latencies have to be merged (again). */
const RollupDirtyDaySchema = defineEntity({
  name: 'RollupDirtyDay',
  tableName: 'rollup_dirty_days',
  properties: { day: p.date().primary() },
});

export class RollupDirtyDay extends RollupDirtyDaySchema.class {}
RollupDirtyDaySchema.setClass(RollupDirtyDay);
