import type { Agent } from 'node:http';
import type { TestKey } from '../../support/edge.js';
import { until } from '../../support/until.js';
import type { Books } from '../rig/books.js';
import { type Entry, mixedCalls, steadyLoad } from '../rig/client.js';
import { type Rig, type RigOptions, startRig } from '../rig/rig.js';

export { allShare } from '../rig/three-edges.js';

/** The result of one goal. */
export interface Result {
  goal: string;
  figure: string;
  reached: string;
  ok: boolean;
}

/** A goal, run at a share of its full size, (0, 1]: number of kills or calls, or duration. */
export type Goal = (scale: number) => Promise<Result | Result[]>;

/** A share of the full size, but at least the minimum that shows anything. */
export const scaled = (full: number, scale: number, least: number): number =>
  Math.max(Math.min(full, least), Math.round(full * scale));

/** Number of disagreements in books. */
export const faultsOf = (books: Books): number =>
  Object.values(books).reduce((sum: number, list: string[]) => sum + list.length, 0);

/** The number of faults, with a list if there are any. */
export function faultsText(books: Books): string {
  const faults = faultsOf(books);
  return faults === 0 ? '0' : `${faults} ${JSON.stringify(books).slice(0, 400)}`;
}

export const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(3)} %`;

export function percentile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(at * sorted.length))] ?? Number.NaN;
}

/** The largest of any number of values; a function call can't take 100,000 arguments. */
export const largest = (values: Iterable<number>): number => {
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) if (value > most) most = value;
  return most;
};

/** Runs a goal on a separate rig with twenty customers. */
export async function withRig<T>(
  name: string,
  options: RigOptions,
  run: (rig: Rig, customers: TestKey[]) => Promise<T>,
): Promise<T> {
  const rig = await startRig(name, { balance: '100000', ...options });
  try {
    return await run(rig, await rig.customers(20));
  } finally {
    await rig.close();
  }
}

export interface LoadOptions {
  perSecond: number;
  /** False: whole answers only. */
  streams?: boolean;
  agent?: Agent;
}

/** Makes calls at an even pace while `happens` runs. By default, half of them are streams. */
export async function under(
  rig: Rig,
  customers: TestKey[],
  { perSecond, streams = true, agent }: LoadOptions,
  happens: () => Promise<void>,
): Promise<Entry[]> {
  const first = rig.journal.entries.length;
  let over = false;
  const load = steadyLoad(
    perSecond,
    () => over,
    mixedCalls(rig, customers, { streams, patienceMs: 30_000, ...(agent && { agent }) }),
  );
  try {
    await until(() => rig.journal.entries.length > first + 2 * customers.length);
    await happens();
  } finally {
    over = true;
    await load;
  }
  return rig.journal.entries.slice(first);
}
