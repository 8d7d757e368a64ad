/** An hour or a day of a chart. */
export interface Mark {
  /** Below the chart: `21 Nov`. */
  name: string;
  /** A value for each series. */
  parts: readonly number[];
  /** All figures of this mark in words, exact. */
  words: string;
}

export const totalOf = (parts: readonly number[]): number => parts.reduce((sum, part) => sum + part, 0);

const EACH_NAMED = 8;
const WEEK = 7;
const HOURS = 3;

/** The arrow key that a key is translated to, and how often. */
interface Jump {
  arrow: 'ArrowLeft' | 'ArrowRight';
  times: number;
}

const HOURS_PER_PAGE = 6;

/** Home and End go to the first and the last mark, Page Up and Page Down by a week or six hours. */
export function jumpOf(key: string, count: number, unit: 'hour' | 'day'): Jump | undefined {
  const page = unit === 'hour' ? HOURS_PER_PAGE : WEEK;
  if (key === 'Home') return { arrow: 'ArrowLeft', times: count };
  if (key === 'End') return { arrow: 'ArrowRight', times: count };
  if (key === 'PageUp') return { arrow: 'ArrowLeft', times: page };
  return key === 'PageDown' ? { arrow: 'ArrowRight', times: page } : undefined;
}

/** The marks with a name below them: each of up to eight, otherwise one per week or every third hour. */
export function namedMarks(count: number, unit: 'hour' | 'day'): number[] {
  const all = Array.from({ length: count }, (_, index) => index);
  if (count <= EACH_NAMED) return all;
  if (unit === 'hour') return all.filter((index) => index % HOURS === 0);
  // Backwards from today. In 90 days there is only room for every other week.
  const step = count > 5 * WEEK ? 2 * WEEK : WEEK;
  return all.filter((index) => (count - 1 - index) % step === 0);
}

const LEAST_AXIS_WIDTH = 60;
const CHARACTER_WIDTH = 7.3;
const AXIS_GAP = 12;

/** The room for the values beside the axis, which are never cut off. */
export const axisWidth = (values: readonly string[]): number =>
  Math.max(LEAST_AXIS_WIDTH, ...values.map((value) => Math.ceil(value.length * CHARACTER_WIDTH) + AXIS_GAP));

/** The mark that shows its value: the highest. */
export function labelledMark(totals: readonly number[]): number | undefined {
  const most = Math.max(...totals, 0);
  return most === 0 ? undefined : totals.lastIndexOf(most);
}
