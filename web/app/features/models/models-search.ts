/** Windows of the leaderboard, in days. */
export const MODEL_WINDOWS = [7, 30] as const;
export type ModelWindow = (typeof MODEL_WINDOWS)[number];

export interface ModelsSearch {
  /** Absent: 7 days. */
  window?: ModelWindow;
}

/** Reads the window of an address; drops an invalid one. */
export function modelsSearch(search: Record<string, unknown>): ModelsSearch {
  const window = MODEL_WINDOWS.find((days) => days === Number(search.window));
  return window === undefined ? {} : { window };
}
