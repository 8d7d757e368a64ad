import { latencyText } from '../../../src/lib/latency-text';
import { roundedDollars } from '../../../src/lib/rounded-dollars';
import { madeOnce } from './made-once';

/** Pages are in English: formats of the system's language would mix two languages in a line. */
const LOCALE = 'en-GB';

const counts = madeOnce(() => new Intl.NumberFormat('en-US'));
/** 12,345 */
export const formatCount = (count: number): string => counts().format(count);

/** A number with a noun whose plural ends with s: `1 call`, `12,345 calls`. */
export const counted = (count: number, thing: string): string =>
  `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`;

const shortCounts = madeOnce(
  () => new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 }),
);
/** 12,345 as `12.3K` */
export const shortCount = (count: number): string => shortCounts().format(count);

const rates = madeOnce(
  () => new Intl.NumberFormat(LOCALE, { style: 'percent', maximumSignificantDigits: 2 }),
);
/** A fraction as `2.5%`. Only exactly 1 is shown as `100%`. */
export const formatRate = (fraction: number): string =>
  fraction >= 0.995 && fraction < 1
    ? `${Math.min(99.99, Math.round(fraction * 10_000) / 100)}%`
    : rates().format(fraction);

const points = madeOnce(() => new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 2 }));
/** A difference of two fractions in percentage points, as `1.5 points`. */
export function formatPoints(difference: number): string {
  const shown = points().format(difference * 100);
  return `${shown} point${shown === '1' ? '' : 's'}`;
}

/** Milliseconds as `850 ms`, from ten seconds on as `12.3 s`. */
export const formatLatency = (ms: number): string => latencyText(ms, formatCount);

/** Dollars in few characters, for the marks of a chart, which shows the exact amount elsewhere. */
export const shortDollars = (usd: number): string =>
  Number.isInteger(usd) ? `$${formatCount(usd)}` : roundedDollars(usd);

const days = madeOnce(
  () => new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
);
/** A UTC day, `2026-11-21`, as `21 Nov`. */
export const formatDay = (date: string): string => days().format(new Date(`${date}T00:00:00Z`));

const clockTimes = madeOnce(
  () => new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
);
/** Milliseconds of the clock as `04:12`. */
export const formatClock = (ms: number): string => clockTimes().format(ms);

const sameYear = madeOnce(
  () =>
    new Intl.DateTimeFormat(LOCALE, {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    }),
);
const otherYear = madeOnce(
  () => new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' }),
);
/** Local time; the year only where it isn't this one. */
export function formatLocal(time: Date, now: number): string {
  const format = time.getFullYear() === new Date(now).getFullYear() ? sameYear : otherYear;
  return format().format(time);
}

/** `2026-11-21 17:04:05 UTC` */
export const formatUtc = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;
// Always as numbers: 47 hours ago isn't "yesterday" on most clocks, nor 59 days ago "last month".
const relative = madeOnce(() => new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'long' }));
/** How long ago, by the largest unit that fits: `3 minutes ago`. */
export function formatAgo(time: Date, now: number): string {
  const seconds = Math.round((time.getTime() - now) / 1000);
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative().format(Math.trunc(seconds / size), unit);
  }
  return 'just now';
}
