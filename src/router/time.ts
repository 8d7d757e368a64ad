import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../lib/clock.js';

/** Monotonic time: a corrected wall clock must not prolong a cooldown. */
export interface ProxyTime extends Clock {
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const processTime: ProxyTime = {
  now: () => performance.now(),
  pause: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
};
