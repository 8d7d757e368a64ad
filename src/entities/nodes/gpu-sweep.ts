import { defineEntity, p } from '@mikro-orm/core';

/** When nodes were last checked for missing heartbeats: one row. */
const GpuSweepSchema = defineEntity({
  name: 'GpuSweep',
  tableName: 'gpu_sweeps',
  properties: {
    onlyRow: p.boolean().primary().default(true),
    sweptAt: p.datetime(6),
  },
});

export class GpuSweep extends GpuSweepSchema.class {}
GpuSweepSchema.setClass(GpuSweep);
