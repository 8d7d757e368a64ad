import { setTimeout as delay } from 'node:timers/promises';
import { FACTOR } from './jest/patience.js';

export interface UntilOptions {
  timeoutMs?: number;
  /** Time between two looks. */
  intervalMs?: number;
  what?: string;
}

const FIRST_MS = 20;
const LONGEST_MS = 200;
/** After a long wait, further looks may take this share of it longer. */
const SHARE = 0.05;

/** Shorter waits check that something does not happen. They always last their full time, so they aren't stretched. */
const SHORTEST_STRETCHED_MS = 1_000;

/**
 * Waits for a condition instead of sleeping: polls until it returns something truthy. The time limit allows for a busy machine,
 * stretched like the time limits of tests; a test of a time bound of the product measures it. Unless the test sets an
 * interval, long waits poll less often: most conditions are a query or a page of metrics, which cost processor time on
 * both sides.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 30_000, intervalMs, what = 'condition' }: UntilOptions = {},
): Promise<NonNullable<T>> {
  const began = Date.now();
  const limitMs = timeoutMs < SHORTEST_STRETCHED_MS ? timeoutMs : timeoutMs * FACTOR;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<T>;
    const waited = Date.now() - began;
    if (waited > limitMs) throw new Error(`timed out after ${limitMs} ms waiting for ${what}`);
    await delay(intervalMs ?? Math.min(Math.max(FIRST_MS, waited * SHARE), LONGEST_MS));
  }
}
