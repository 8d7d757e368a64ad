import { defineEntity, p } from '@mikro-orm/core';

/** An hour up to which time its slices are rolled up. */
const UsageSlicedHourSchema = defineEntity({
  name: 'UsageSlicedHour',
  tableName: 'usage_sliced_hours',
  properties: { hour: p.datetime(6).primary(), until: p.datetime(6) },
});

export class UsageSlicedHour extends UsageSlicedHourSchema.class {}
UsageSlicedHourSchema.setClass(UsageSlicedHour);
