import { z } from 'zod';
import { rollUpUsage } from '../services/analytics/rollups.service.js';
import { ensurePartitions } from '../services/partitions/partitions.store.js';
import { defineJob } from './kit.js';

/** Next months' partitions of the usage events. */
export const partitionsJob = defineJob({
  name: 'partitions',
  schema: z.strictObject({}),
  every: '1 day',
  data: {},
  async run({ em, clock, log }) {
    const added = await ensurePartitions(em, clock.now());
    if (added.length > 0) log.info({ added }, 'usage partitions added');
  },
});

/** Closed hours of usage, and those that an event came late for; each minute, since a repeat finds nothing to do. */
export const rollupsJob = defineJob({
  name: 'rollups',
  schema: z.strictObject({}),
  every: '1 minute',
  data: {},
  async run(context) {
    const hours = await rollUpUsage(context);
    if (hours > 0) context.log.info({ hours }, 'hours of usage rolled up');
  },
});
