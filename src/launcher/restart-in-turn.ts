import { within } from '../lib/within.js';
import type { SupervisedChild } from './supervisor.js';

/** Longer than an edge waits for its database (60 s). */
export const READY_PATIENCE_MS = 90_000;

export interface RestartOptions {
  /** Starts the nth again. */
  start(nth: number): SupervisedChild;
  /** Whether everything ends. */
  isStopping(): boolean;
  /** How long each may take until it serves. */
  patienceMs?: number;
}

/** Runs `round` when called. Whoever calls during a round asks for another one behind it, the same one for all. */
export function inRounds(round: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  let isAsked = false;
  return () => {
    if (isAsked) return last;
    isAsked = true;
    last = last.then(() => {
      isAsked = false;
      return round();
    });
    return last;
  };
}

/**
 * Restarts processes in their places, one by one: each serves again before the next one ends.
 * @returns the one that took too long, after which the others are left alone; it is still being started.
 */
export async function restartInTurn(
  running: SupervisedChild[],
  { start, isStopping, patienceMs = READY_PATIENCE_MS }: RestartOptions,
): Promise<SupervisedChild | undefined> {
  for (const [nth, old] of running.entries()) {
    if (isStopping()) return undefined;
    await old.stop();
    if (isStopping()) return undefined;
    const next = start(nth);
    running[nth] = next;
    if ((await within(patienceMs, next.ready)) === undefined) return next;
  }
  return undefined;
}
