import { ownTime } from './own-time.js';
import { until } from './until.js';

/**
 * Waits for something that the product does within a bound, such as earlier than a poll that would replace a lost signal. Unlike
 * with `until`, the limit isn't stretched; only time in which this process had a processor counts.
 */
export async function soonerThan(
  ms: number,
  condition: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const time = ownTime();
  const began = time.now();
  try {
    await until(
      async () => {
        if (await condition()) return true;
        if (time.now() - began > ms) throw new Error(`not within ${ms} ms: ${what}`);
        return false;
      },
      { timeoutMs: 60_000, intervalMs: 10, what },
    );
  } finally {
    time.stop();
  }
}
