import { formatUtc } from '../../ui/format';

const DAY_MS = 86_400_000;

/** When daily and monthly spend are next reset after a time in milliseconds, in words. */
export function resetTimes(now: number): { day: string; month: string } {
  const time = new Date(now);
  const nextDay = new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS);
  const nextMonth = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1));
  const words = (at: Date): string => formatUtc(at).replace(':00 UTC', ' UTC');
  return { day: words(nextDay), month: words(nextMonth) };
}
