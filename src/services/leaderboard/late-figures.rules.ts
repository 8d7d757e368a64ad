import { HOUR_MS, hourStart } from '../../lib/clock.js';

/** Roll-ups run every minute: an hour that has waited for longer than this waits for somebody to look after them. */
const LATE_MS = 2 * HOUR_MS;

/**
 * The time of public figures, in milliseconds: now, or while roll-ups stand still the first hour that waits for them. `waitingSince`
 * is undefined where no hour waits.
 */
export function countedUpTo(now: number, waitingSince: number | undefined): number {
  const isLate = waitingSince !== undefined && waitingSince < hourStart(now) - LATE_MS;
  return isLate ? waitingSince : now;
}
