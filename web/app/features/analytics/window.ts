/** Windows to choose from, in UTC days including today. */
export const WINDOWS = [1, 7, 30, 90] as const;
export type WindowDays = (typeof WINDOWS)[number];
export const DEFAULT_WINDOW: WindowDays = 7;

export interface WindowSearch {
  /** Absent: the default window. */
  window?: WindowDays;
}

/** Reads the window of an address; drops an invalid one. */
export function windowSearch(search: Record<string, unknown>): WindowSearch {
  const days = WINDOWS.find((choice) => choice === Number(search.window));
  return days === undefined ? {} : { window: days };
}

/** How often figures are refreshed. Those of a long window are more expensive, and a call changes them less. */
export const refreshMsOf = (days: WindowDays): number => (days > 7 ? 5_000 : 2_000);

/** Describes the window, and what it is compared with. */
export const windowWords = (days: number): string =>
  days === 1
    ? 'Today so far (UTC), compared with yesterday up to the same time.'
    : `The last ${days} UTC days, compared with the ${days} days before them up to the same time of day.`;
