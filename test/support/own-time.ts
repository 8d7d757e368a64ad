import { threadTimeMs } from './thread-time.js';

const TICK_MS = 5;

export interface OwnTime {
  now(): number;
  stop(): void;
}

/**
 * Milliseconds without the time in which this process had no processor: a bound then holds on a busy machine as
 * on a quiet one, and slowness of the process itself still counts.
 */
export function ownTime(): OwnTime {
  let kept = 0;
  let last = performance.now();
  let used = threadTimeMs();
  const look = (): number => {
    const now = performance.now();
    const usedNow = threadTimeMs();
    kept += Math.max(0, now - last - TICK_MS - (usedNow - used));
    last = now;
    used = usedNow;
    return now;
  };
  const timer = setInterval(look, TICK_MS);
  return { now: () => look() - kept, stop: () => clearInterval(timer) };
}
