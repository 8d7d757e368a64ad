const listeners = new Set<() => Promise<void>>();

/** Calls `report` when a test of the file fails, before the hooks after the test clean up. Returns what ends that. */
export function onFailure(report: () => Promise<void>): () => void {
  listeners.add(report);
  return () => void listeners.delete(report);
}

/** Waits for all reports. One that fails doesn't change the outcome of the test. */
export async function reportFailure(): Promise<void> {
  await Promise.allSettled([...listeners].map((report) => report()));
}
