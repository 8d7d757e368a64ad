import type { Clock } from '../../src/lib/clock.js';

/** A clock that a test moves by hand. */
export interface TestClock extends Clock {
  advance(ms: number): void;
}

export function testClock(startMs = Date.UTC(2026, 10, 21, 8)): TestClock {
  let time = startMs;
  return {
    now: () => time,
    advance(ms) {
      time += ms;
    },
  };
}
