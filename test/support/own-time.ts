const TICK_MS = 5;

export interface OwnTime {
  now(): number;
  stop(): void;
}

/**
 * Milliseconds without those in which this process was kept from its processor: a bound then holds on a busy machine as
 * on a quiet one, and what the process itself takes too long for still counts.
 */
export function ownTime(): OwnTime {
  let kept = 0;
  let last = performance.now();
  let used = process.cpuUsage();
  const look = (): number => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(used);
    kept += Math.max(0, now - last - TICK_MS - (user + system) / 1_000);
    last = now;
    used = process.cpuUsage();
    return now;
  };
  const timer = setInterval(look, TICK_MS);
  return { now: () => look() - kept, stop: () => clearInterval(timer) };
}
