import { monthsBefore } from '../../lib/clock.js';
import type { Partition } from '../partitions/partitions.rules.js';

/** Usage to delete before `until`: a whole partition, or with `null` rows of the default partition. */
export interface Removal {
  table: string | null;
  until: Date;
}

/**
 * What to delete, oldest first: every partition that ended `months` months ago, and rows of the default partition
 * from before the oldest remaining one.
 */
export function removals(nowMs: number, months: number, partitions: readonly Partition[]): Removal[] {
  const before = monthsBefore(nowMs, months);
  const old = partitions.filter(({ until }) => until <= before);
  const oldestKept = partitions.find(({ until }) => until > before);
  const rest = oldestKept && oldestKept.from < before ? oldestKept.from : before;
  return [...old.map(({ table, until }) => ({ table, until })), { table: null, until: rest }];
}
