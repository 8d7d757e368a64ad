import { DAY_MS, dayStart, monthStart } from '../../lib/clock.js';

/** Created in advance, besides the current one: a jobs process may be down for weeks. */
const MONTHS_AHEAD = 2;
const DAYS_AHEAD = 14;

/** Period of one partition. */
export type PartitionSize = 'month' | 'day';

export interface TimeRange {
  from: Date;
  /** End of the partition, exclusive. */
  until: Date;
}

export interface Partition extends TimeRange {
  /** Name of the table. */
  table: string;
}

/**
 * The partitions of `calls` that are missing: for this UTC month and the next two, or for this day and the
 * next fourteen. Periods that a partition of either size covers are left to it, so the size may change at any time.
 */
export function missingPartitions(
  nowMs: number,
  size: PartitionSize,
  existing: readonly TimeRange[],
): Partition[] {
  const isFree = ({ from, until }: TimeRange): boolean =>
    !existing.some((other) => other.from < until && from < other.until);
  if (size === 'day')
    return daysOf(dayStart(nowMs), dayStart(nowMs) + (DAYS_AHEAD + 1) * DAY_MS).filter(isFree);
  return Array.from({ length: MONTHS_AHEAD + 1 }, (_, offset) => {
    const month = { from: monthStart(nowMs, offset), until: monthStart(nowMs, offset + 1) };
    if (isFree(month)) return [{ table: tableOf(month.from, 'month'), ...month }];
    // Some days of the month have their own partition, so the others get one too.
    return daysOf(month.from.getTime(), month.until.getTime()).filter(isFree);
  }).flat();
}

function daysOf(fromMs: number, untilMs: number): Partition[] {
  return Array.from({ length: (untilMs - fromMs) / DAY_MS }, (_, nth) => {
    const from = new Date(fromMs + nth * DAY_MS);
    return { table: tableOf(from, 'day'), from, until: new Date(from.getTime() + DAY_MS) };
  });
}

const tableOf = (from: Date, size: PartitionSize): string =>
  `calls_${from
    .toISOString()
    .slice(0, size === 'month' ? 7 : 10)
    .replaceAll('-', '_')}`;
