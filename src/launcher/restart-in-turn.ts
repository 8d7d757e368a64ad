import { within } from '../lib/within.js';
import type { SupervisedChild } from './supervisor.js';

/** Longer than an edge waits for its database (60 s). */
export const READY_PATIENCE_MS = 90_000;

export interface RestartOptions {
  /** Starts the nth process again. */
  start(nth: number): SupervisedChild;
  /** Whether all processes are being stopped. */
  isStopping(): boolean;
  /** How long each process may take until it serves. */
  patienceMs?: number;
}

/** Returns a function that runs `round`. Calls during a round share one further round after it. */
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
 * Restarts processes one by one, in place. Each serves again before the next one is stopped.
 * @returns The process that took too long, if any. It is still being started, and the ones after it weren't restarted.
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
