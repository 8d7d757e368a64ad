import { z } from 'zod';
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
