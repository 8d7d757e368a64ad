import type { ServiceContext } from '../../context.js';
import type { PartitionSize } from './partitions.rules.js';
import { ensurePartitions } from './partitions.store.js';
import { NotNow } from './usage-lock.store.js';

/**
 * Adds the next missing partitions of usage, in the transaction of the context's `em`, if any. If somebody is reading
 * all usage, it leaves them to the next run, months before they are needed, and logs that.
 * @returns the names of the added partitions.
 */
export async function addPartitions(
  { em, clock, log }: Pick<ServiceContext, 'em' | 'clock' | 'log'>,
  size: PartitionSize,
): Promise<string[]> {
  try {
    return await ensurePartitions(em, clock.now(), size);
  } catch (error) {
    if (!(error instanceof NotNow)) throw error;
    log.warn({ reason: error.message }, 'left new partitions to the next run');
    return [];
  }
}
