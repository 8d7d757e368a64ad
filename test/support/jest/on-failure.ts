const listeners = new Set<() => Promise<void>>();

/** Calls `report` when a test of the file fails, before its `afterEach` hooks. Returns a function that ends this. */
export function onFailure(report: () => Promise<void>): () => void {
  listeners.add(report);
  return () => void listeners.delete(report);
}

/** Waits for all reports. A failing report doesn't change the outcome of the test. */
export async function reportFailure(): Promise<void> {
  await Promise.allSettled([...listeners].map((report) => report()));
}
