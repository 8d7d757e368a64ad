import { defineEntity, p } from '@mikro-orm/core';

/** A day that was merged before days had their cost, and has to be merged again. */
const RollupUnsummedDaySchema = defineEntity({
  name: 'RollupUnsummedDay',
  tableName: 'rollup_unsummed_days',
  properties: { day: p.date().primary() },
});

export class RollupUnsummedDay extends RollupUnsummedDaySchema.class {}
RollupUnsummedDaySchema.setClass(RollupUnsummedDay);
