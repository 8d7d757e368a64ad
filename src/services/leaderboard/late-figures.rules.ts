import { HOUR_MS, hourStart } from '../../lib/clock.js';

/** Roll-ups run every minute. If an hour waits for longer than this, they have a problem. */
const LATE_MS = 2 * HOUR_MS;

/**
 * The time of public figures, in milliseconds: now, or the first waiting hour while roll-ups are stuck.
 * `waitingSince` is undefined if no hour waits.
 */
export function countedUpTo(now: number, waitingSince: number | undefined): number {
  const isLate = waitingSince !== undefined && waitingSince < hourStart(now) - LATE_MS;
  return isLate ? waitingSince : now;
}
