/** Windows that can be chosen, in UTC days, today included. */
export const WINDOWS = [1, 7, 30, 90] as const;
export type WindowDays = (typeof WINDOWS)[number];
export const DEFAULT_WINDOW: WindowDays = 7;

export interface WindowSearch {
  /** Absent: the default one. */
  window?: WindowDays;
}

/** The window of an address; whatever else stands there counts as none. */
export function windowSearch(search: Record<string, unknown>): WindowSearch {
  const days = WINDOWS.find((choice) => choice === Number(search.window));
  return days === undefined ? {} : { window: days };
}

/** `7 days`, `day` */
export const windowName = (days: number): string => (days === 1 ? 'day' : `${days} days`);
