import { rollUpUsage } from '../services/analytics/rollups.service.js';
import type { PartitionSize } from '../services/partitions/partitions.rules.js';
import { addPartitions } from '../services/partitions/partitions.service.js';
import { type JobDefinition, scheduled } from './kit.js';

/**
 * Adds the next partitions of the usage events, of a month or a day each. Runs more often than needed: a run during the hourly
 * audit leaves the work to the next one, and a run without work is cheap.
 */
export function partitionsJob(size: PartitionSize): JobDefinition {
  return scheduled('partitions', '10 minutes', async (context) => {
    const added = await addPartitions(context, size);
    if (added.length > 0) context.log.info({ added }, 'usage partitions added');
  });
}

/** Rolls up the hours that are over, and those with late events. */
export const rollupsJob = scheduled('rollups', '1 minute', async (context) => {
  const hours = await rollUpUsage(context);
  if (hours > 0) context.log.info({ hours }, 'hours of usage rolled up');
});
