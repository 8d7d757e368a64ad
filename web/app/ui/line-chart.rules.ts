/** A value and its time in milliseconds. */
export interface Reading {
  atMs: number;
  value: number;
}

/** The next round number from `value` up: 1, 2 or 5 with zeros. */
export function roundMaximum(value: number): number {
  if (value <= 0) return 1;
  const size = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((factor) => factor * size >= value)!;
  return step * size;
}

/** The median gap between readings; 0 for fewer than two. */
function usualGapMs(readings: readonly Reading[]): number {
  const gaps = readings
    .slice(1)
    .map(({ atMs }, index) => atMs - readings[index]!.atMs)
    .sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length / 2)] ?? 0;
}

const SILENT_GAPS = 3;

/** Splits readings, oldest first, at gaps: the line must not bridge a time without readings. */
export function runsOf(readings: readonly Reading[]): Reading[][] {
  const longest = usualGapMs(readings) * SILENT_GAPS;
  const runs: Reading[][] = [];
  for (const reading of readings) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    if (run && before && reading.atMs - before.atMs <= longest) run.push(reading);
    else runs.push([reading]);
  }
  return runs;
}
