import { until } from '../until.js';

const DAY_MS = 86_400_000;
/** Longer than any file takes, even at two thirds of the usual speed. */
const LONGEST_FILE_MS = 120_000;

/**
 * Waits for the next UTC day if the current one is about to end. The product counts by days and months, and what a file writes
 * and what it reads later must belong to the same ones.
 */
export async function oneDayAhead(): Promise<void> {
  await until(() => DAY_MS - (Date.now() % DAY_MS) > LONGEST_FILE_MS, {
    timeoutMs: 2 * LONGEST_FILE_MS,
    what: 'the next UTC day',
  });
}
