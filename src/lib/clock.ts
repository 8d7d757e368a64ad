/**
 * The only source of time. Everything that stores, compares or prints a time takes a Clock, so that tests can set it to the end of
 * a month. All times are UTC.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** `2026-11-21T08:55:57.123000Z`: always six digits and Z. */
export function formatTimestamp(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, -1)}000Z`;
}

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
let lastDay = { number: Number.NaN, text: '' };

/** UTC day, `YYYY-MM-DD`. */
export function utcDay(timeMs: number): string {
  const number = Math.floor(timeMs / DAY_MS);
  // Every call needs today's date, so the last one is cached.
  if (number !== lastDay.number) {
    lastDay = { number, text: new Date(timeMs).toISOString().slice(0, 10) };
  }
  return lastDay.text;
}

let lastBefore = { day: '', before: '' };

/** The day before a UTC day, both `YYYY-MM-DD`. */
export function dayBefore(day: string): string {
  if (day !== lastBefore.day) {
    lastBefore = { day, before: new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10) };
  }
  return lastBefore.before;
}

/** UTC month, `YYYY-MM`. */
export function utcMonth(timeMs: number): string {
  return utcDay(timeMs).slice(0, 7);
}

/** First millisecond of the UTC day of `timeMs`. */
export function dayStart(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS) * DAY_MS;
}

/** First instant of the UTC month that is `offset` months after the month of `timeMs`. */
export function monthStart(timeMs: number, offset = 0): Date {
  const time = new Date(timeMs);
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + offset, 1));
}

/** UTC midnight `months` months before `timeMs`, on the same day of the month, or on the last day of a shorter month. */
export function monthsBefore(timeMs: number, months: number): Date {
  const lastDay = monthStart(timeMs, 1 - months).getTime() - DAY_MS;
  const sameDay = monthStart(timeMs, -months).getTime() + dayStart(timeMs) - monthStart(timeMs).getTime();
  return new Date(Math.min(sameDay, lastDay));
}

export const HOUR_MS = 3_600_000;

/** First millisecond of the UTC hour of `timeMs`. */
export function hourStart(timeMs: number): number {
  return Math.floor(timeMs / HOUR_MS) * HOUR_MS;
}

/** The last `days` UTC days including today, oldest first. */
export function lastDays(now: number, days: number): string[] {
  return Array.from({ length: days }, (_, index) => utcDay(now - (days - 1 - index) * DAY_MS));
}
