import { graceTimeout } from './grace-timeout.js';

/**
 * The result of `work` if it arrives within `timeoutMs`. A result that arrived in time counts even if the process stood still.
 * @param late Called after the timeout; returns the error to throw. The work itself continues.
 * @throws what the work throws, or the error of `late`
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
