import { monthsBefore } from '../../lib/clock.js';
import type { Partition } from '../partitions/partitions.rules.js';

/** Usage of before `until` is to go: a whole partition, or with `null` what no partition was made for. */
export interface Removal {
  table: string | null;
  until: Date;
}

/**
 * What is to go, oldest first: every partition that ended `months` months ago, and what lies in the default partition of before
 * the oldest that stays.
 */
export function removals(nowMs: number, months: number, partitions: readonly Partition[]): Removal[] {
  const before = monthsBefore(nowMs, months);
  const old = partitions.filter(({ until }) => until <= before);
  const oldestKept = partitions.find(({ until }) => until > before);
  const rest = oldestKept && oldestKept.from < before ? oldestKept.from : before;
  return [...old.map(({ table, until }) => ({ table, until })), { table: null, until: rest }];
}
