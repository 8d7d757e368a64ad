import { graceTimeout } from './grace-timeout.js';

/**
 * The result of work, if it comes within `timeoutMs`. A result that has arrived by then counts, even if the process stood still.
 * @param late is called when time is up, and returns the error to fail with. The work itself continues.
 * @throws what the work throws, or that error
 */
export async function inTime<T>(work: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  const over = Promise.withResolvers<never>();
  const endLimit = graceTimeout(timeoutMs, () => over.reject(late()));
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    endLimit();
  }
}
