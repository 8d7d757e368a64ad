import { rollUpUsage } from '../services/analytics/rollups.service.js';
import type { PartitionSize } from '../services/partitions/partitions.rules.js';
import { ensurePartitions } from '../services/partitions/partitions.store.js';
import { type JobDefinition, scheduled } from './kit.js';

/** The next partitions of the usage events, of a month or a day each. */
export function partitionsJob(size: PartitionSize): JobDefinition {
  return scheduled('partitions', '1 day', async ({ em, clock, log }) => {
    const added = await ensurePartitions(em, clock.now(), size);
    if (added.length > 0) log.info({ added }, 'usage partitions added');
  });
}

/** Closed hours of usage, and those that an event came late for; each minute, since a repeat finds nothing to do. */
export const rollupsJob = scheduled('rollups', '1 minute', async (context) => {
  const hours = await rollUpUsage(context);
  if (hours > 0) context.log.info({ hours }, 'hours of usage rolled up');
});
