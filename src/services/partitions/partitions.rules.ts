import { DAY_MS, dayStart, monthStart } from '../../lib/clock.js';

/** Ahead of time, beside the running one: a jobs process may be down for weeks. */
const MONTHS_AHEAD = 2;
const DAYS_AHEAD = 14;

/** What one partition holds. */
export type PartitionSize = 'month' | 'day';

export interface TimeRange {
  from: Date;
  /** First instant that no longer belongs to it. */
  until: Date;
}

export interface Partition extends TimeRange {
  /** Name of the table. */
  table: string;
}

/**
 * The partitions of `usage_events` that are missing at a time: of its UTC month and the next two, or of its day and the next
 * fourteen. What a partition of either size holds already is left to it, so that the size may change at any time.
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
    // Days of it have theirs: the others get the same.
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
  `usage_events_${from
    .toISOString()
    .slice(0, size === 'month' ? 7 : 10)
    .replaceAll('-', '_')}`;
