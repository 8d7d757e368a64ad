import type { ServiceContext } from '../../context.js';
import type { PartitionSize } from './partitions.rules.js';
import { ensurePartitions } from './partitions.store.js';
import { NotNow } from './usage-lock.store.js';

/**
 * Adds the next partitions of usage where they are missing, in the transaction that the context's `em` is in, if any. While
 * somebody reads all usage it leaves them to the next run, months before they are needed, and says so.
 * @returns the names of those that it added.
 */
export async function addPartitions(
  { em, clock, log }: Pick<ServiceContext, 'em' | 'clock' | 'log'>,
  size: PartitionSize,
): Promise<string[]> {
  try {
    return await ensurePartitions(em, clock.now(), size);
  } catch (error) {
    if (!(error instanceof NotNow)) throw error;
    log.warn({ reason: error.message }, 'partitions are added by the next run');
    return [];
  }
}
