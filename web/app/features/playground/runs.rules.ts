import type { PlaygroundRunSubscription, RunPartsFragment } from '../../../generated/graphql';

/** One model's answer so far. */
export type ShownRun = RunPartsFragment;
type RunEvent = PlaygroundRunSubscription['playgroundRun'];

const FINAL = new Set<ShownRun['status']>(['SUCCESS', 'ERROR', 'CANCELLED']);

export const isOver = ({ status }: Pick<ShownRun, 'status'>): boolean => FINAL.has(status);

/** A run after an event. The last event contains the whole run. */
export function advanced(run: ShownRun, { status, offset, delta, ttftMs, run: whole }: RunEvent): ShownRun {
  if (whole) return whole;
  if (isOver(run)) return run;
  const before = run.responseContent ?? '';
  return {
    ...run,
    status,
    ttftMs: ttftMs ?? null,
    responseContent: before.slice(0, offset) + delta,
  };
}

/** Tokens per second between the first and the last token; null if it can't be computed. */
export function tokensPerSecond({ outputTokens, ttftMs, latencyMs }: ShownRun): number | null {
  if (ttftMs == null || latencyMs == null || latencyMs <= ttftMs || outputTokens < 2) return null;
  return ((outputTokens - 1) / (latencyMs - ttftMs)) * 1000;
}

/** Ids of the fastest and the shortest successful run, once all runs have ended and several succeeded. */
export function winners(runs: readonly ShownRun[]): { fastest?: string; shortest?: string } {
  const successes = runs.filter(({ status }) => status === 'SUCCESS');
  if (successes.length < 2 || !runs.every(isOver)) return {};
  const least = (of: (run: ShownRun) => number): string | undefined => {
    const [first, second] = successes.toSorted((a, b) => of(a) - of(b));
    return first && second && of(first) < of(second) ? first.id : undefined;
  };
  const fastest = least(({ latencyMs }) => latencyMs ?? Number.POSITIVE_INFINITY);
  const shortest = least(({ outputTokens }) => outputTokens);
  return { ...(fastest && { fastest }), ...(shortest && { shortest }) };
}
