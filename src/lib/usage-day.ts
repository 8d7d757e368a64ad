const DAY = /^\d{4}-\d\d-\d\d$/;
/** No call is older, and PostgreSQL knows no year 0. */
const FIRST_DAY = '2000-01-01';
const LAST_DAY = '2999-12-31';

/** Whether it is a UTC day on which there may be calls, `2026-11-21`. There is no `2026-02-30`. */
export function isUsageDay(text: string): boolean {
  if (!DAY.test(text) || text < FIRST_DAY || text > LAST_DAY) return false;
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
