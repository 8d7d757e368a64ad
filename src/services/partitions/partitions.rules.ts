import { monthStart } from '../../lib/clock.js';

/** Months that have a partition ahead of time, beside the running one: a jobs process may be down for weeks. */
const MONTHS_AHEAD = 2;

export interface MonthPartition {
  /** Name of the table. */
  table: string;
  from: Date;
  /** First instant that no longer belongs to it. */
  until: Date;
}

/** The partitions of `usage_events` that have to exist at a time: its UTC month and the next two. */
export function wantedPartitions(nowMs: number): MonthPartition[] {
  return Array.from({ length: MONTHS_AHEAD + 1 }, (_, offset) => {
    const from = monthStart(nowMs, offset);
    const month = from.toISOString().slice(0, 7).replace('-', '_');
    return { table: `usage_events_${month}`, from, until: monthStart(nowMs, offset + 1) };
  });
}
