import { seedFrom } from '../../support/seed.js';

/** Random numbers, reproducible by their seed. */
export interface Random {
  readonly seed: number;
  /** In [0, 1). */
  next(): number;
  /** Whole, from `from` to `to`, both included. */
  between(from: number, to: number): number;
  pick<T>(items: readonly T[]): T;
}

/** FAULTS_SEED, or a new seed. Printed, so that a failure can be reproduced. */
export function seededRandom(name: string): Random {
  const seed = seedFrom('FAULTS_SEED');
  process.stderr.write(`${name}: FAULTS_SEED=${seed}\n`);
  let state = seed >>> 0;
  // mulberry32: enough to spread moments and choices.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return { seed, next, between, pick: (items) => items[between(0, items.length - 1)]! };
}
