import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const INTERVAL_MS = 5_000;
/** Shares of the time in which the event loop works. */
const IDLE_BELOW = 0.05;
const BUSY_FROM = 0.15;

/**
 * Collects garbage once whenever the process becomes idle after its start or a busy time. V8 itself keeps the garbage and the young
 * generation of the busiest moment for hours, since it only collects when a program allocates (docs/decisions/0208).
 */
export function collectWhenIdle(intervalMs = INTERVAL_MS): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let isDue = true;
  let last = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization >= BUSY_FROM) isDue = true;
    else if (utilization < IDLE_BELOW && isDue) {
      isDue = false;
      collect();
    }
  }, intervalMs).unref();
}
