import { createHash } from 'node:crypto';

/** Pseudo-random numbers from a text: the same text always gives the same numbers. */
export interface Chance {
  /** A number in [0, 1). */
  next(): number;
  /** An integer in [low, high]. */
  integer(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
  /** Lower-case hex digits. */
  hex(length: number): string;
}

/** A generator (mulberry32) seeded with the hash of a text. */
export function chanceOf(text: string): Chance {
  let state = createHash('sha256').update(text).digest().readUInt32LE(0);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    integer,
    pick: (items) => items[integer(0, items.length - 1)]!,
    hex: (length) => Array.from({ length }, () => integer(0, 15).toString(16)).join(''),
  };
}
