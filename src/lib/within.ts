import { setTimeout as delay } from 'node:timers/promises';

/** Waits for work with a timeout; the work itself continues. */
export async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const limit = new AbortController();
  const timeout = delay(timeoutMs, undefined, { signal: limit.signal }).catch(() => undefined);
  try {
    await Promise.race([work, timeout]);
  } finally {
    limit.abort();
  }
}
