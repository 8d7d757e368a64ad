const LONG_MS = 10_000;

/** Formats a latency: `1,850 ms`, from ten seconds on `12.3 s`. `count` formats a whole number of milliseconds. */
export const latencyText = (ms: number, count: (ms: number) => string): string =>
  ms < LONG_MS ? `${count(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
