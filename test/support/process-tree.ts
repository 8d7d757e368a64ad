import { readdirSync } from 'node:fs';
import { statFields } from '../../src/lib/process-stat.js';

/** Pids of the direct children of a process. */
export const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((other) => Number(statFields(other)?.[1]) === pid);

/** Every process below one, however deep. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}
