const DAY = /^\d{4}-\d\d-\d\d$/;
/** No call is older, and PostgreSQL has no year 0. */
const FIRST_DAY = '2000-01-01';
const LAST_DAY = '2999-12-31';

/** Whether a text is a valid UTC day on which there may be calls, such as `2026-11-21`. */
export function isUsageDay(text: string): boolean {
  if (!DAY.test(text) || text < FIRST_DAY || text > LAST_DAY) return false;
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
