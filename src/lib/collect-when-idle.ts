import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const INTERVAL_MS = 5_000;
/** Shares of one processor. Its time, not the event loop's: on a busy machine, a loop that waits for a processor counts as working. */
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
  let used = process.cpuUsage();
  let at = performance.now();
  setInterval(() => {
    const { user, system } = process.cpuUsage(used);
    const share = (user + system) / 1000 / (performance.now() - at);
    used = process.cpuUsage();
    at = performance.now();
    if (share >= BUSY_FROM) isDue = true;
    else if (share < IDLE_BELOW && isDue) {
      isDue = false;
      collect();
    }
  }, intervalMs).unref();
}
