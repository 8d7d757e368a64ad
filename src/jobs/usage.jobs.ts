import { rollUpUsage } from '../services/analytics/rollups.service.js';
import type { PartitionSize } from '../services/partitions/partitions.rules.js';
import { addPartitions } from '../services/partitions/partitions.service.js';
import { type JobDefinition, scheduled } from './kit.js';

/**
 * The next partitions of the usage events, of a month or a day each. More often than they are needed: a run that meets the
 * hourly audit leaves them to the next one, and one that finds them all costs a look.
 */
export function partitionsJob(size: PartitionSize): JobDefinition {
  return scheduled('partitions', '10 minutes', async (context) => {
    const added = await addPartitions(context, size);
    if (added.length > 0) context.log.info({ added }, 'usage partitions added');
  });
}

/** Closed hours of usage, and those that an event came late for; each minute, since a repeat finds nothing to do. */
export const rollupsJob = scheduled('rollups', '1 minute', async (context) => {
  const hours = await rollUpUsage(context);
  if (hours > 0) context.log.info({ hours }, 'hours of usage rolled up');
});
