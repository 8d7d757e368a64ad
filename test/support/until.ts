import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for a condition instead of sleeping: polls until it gives something truthy. How long is patience with a busy machine;
 * a test that means a bound of the product names it.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 30_000, intervalMs = 20, what = 'condition' } = {},
): Promise<NonNullable<T>> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<T>;
    if (Date.now() > end) throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`);
    await delay(intervalMs);
  }
}
