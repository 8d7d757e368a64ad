import { readdirSync } from 'node:fs';
import { statFields } from '../../src/lib/process-stat.js';

/** All processes with their parents, read once, since there are hundreds. */
function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statFields(Number(name))?.[1]);
    const siblings = children.get(parent);
    if (siblings) siblings.push(Number(name));
    else children.set(parent, [Number(name)]);
  }
  return children;
}

/** Pids of the direct children of a process. */
export const childrenOf = (pid: number): number[] => childrenByParent().get(pid) ?? [];

/** Every process below one, however deep. */
export function descendantsOf(pid: number): number[] {
  const children = childrenByParent();
  const below = (one: number): number[] =>
    (children.get(one) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}
