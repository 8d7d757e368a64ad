import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../lib/clock.js';

/** Time as routing needs it. It never goes back: a corrected wall clock must not keep a deployment parked. */
export interface ProxyTime extends Clock {
  /** Waits. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const processTime: ProxyTime = {
  now: () => performance.now(),
  pause: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
};
