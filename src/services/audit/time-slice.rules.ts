import { DAY_MS, HOUR_MS } from '../../lib/clock.js';

/** A stretch of time from one full hour until another, as SQL literals; each may be infinite. */
export interface TimeSlice {
  from: string;
  until: string;
}

/** A slice ends at a midnight unless it would have this many times as many calls as it should. */
const MOST = 10;

/** Condition on a time: in the slice. */
export const during = (column: string, { from, until }: TimeSlice): string =>
  `${column} >= '${from}'::timestamptz and ${column} < '${until}'::timestamptz`;

/** Condition on a UTC day: a part of it is in the slice. */
export const dayOf = (column: string, slice: TimeSlice): string => {
  const { from, until } = wholeDays(slice);
  return `${column} >= '${from.slice(0, 10)}'::date and ${column} < '${until.slice(0, 10)}'::date`;
};

/** The UTC days with a part in the slice. */
export const wholeDays = ({ from, until }: TimeSlice): TimeSlice => ({
  from: moved(from, (ms) => Math.floor(ms / DAY_MS) * DAY_MS),
  until: moved(until, (ms) => Math.ceil(ms / DAY_MS) * DAY_MS),
});

/** Condition on an id (UUIDv7): of a call that began in the slice, or in the hour before. */
export function idDuring(column: string, { from, until }: TimeSlice): string {
  const first = from === '-infinity' ? 'true' : `${column} >= '${idAt(Date.parse(from) - HOUR_MS)}'::uuid`;
  return until === 'infinity' ? first : `${first} and ${column} < '${idAt(Date.parse(until))}'::uuid`;
}

/** Where a slice of about `size` calls ends, by the number of calls of the next hours, which may be all hours. */
export function endOfSlice(
  hours: readonly { ms: number; calls: number }[],
  areAll: boolean,
  size: number,
): string {
  let calls = 0;
  for (const [nth, { ms, calls: more }] of hours.entries()) {
    const isNewDay = nth > 0 && Math.floor(ms / DAY_MS) !== Math.floor(hours[nth - 1]!.ms / DAY_MS);
    if (isNewDay && calls >= size) return new Date(Math.floor(ms / DAY_MS) * DAY_MS).toISOString();
    if (nth > 0 && calls >= size * MOST) return new Date(ms).toISOString();
    calls += more;
  }
  return areAll ? 'infinity' : new Date(hours.at(-1)!.ms + HOUR_MS).toISOString();
}

const moved = (time: string, move: (ms: number) => number): string =>
  time.endsWith('infinity') ? time : new Date(move(Date.parse(time))).toISOString();

const idAt = (ms: number): string =>
  Math.max(0, ms)
    .toString(16)
    .padStart(12, '0')
    .padEnd(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
