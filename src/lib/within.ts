import { setTimeout as delay } from 'node:timers/promises';

/** Waits for work with a timeout. Returns undefined if it takes longer; the work itself continues. */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
  const limit = new AbortController();
  const timeout = delay(timeoutMs, undefined, { signal: limit.signal }).catch(() => undefined);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    limit.abort();
  }
}
