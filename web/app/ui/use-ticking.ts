import { useSyncExternalStore } from 'react';

const SECOND_MS = 1_000;

let now = Date.now();
let timer: number | undefined;
const listeners = new Set<() => void>();

function onTick(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= window.setInterval(() => {
    now = Date.now();
    for (const tell of listeners) tell();
  }, SECOND_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

/**
 * The result of a function of the time in milliseconds, updated each second. One timer serves the whole page, and only changed results
 * are rendered again.
 */
export function useTicking<Value extends string | number | boolean | null>(
  of: (nowMs: number) => Value,
): Value {
  // The time only changes with a tick, unless the timer was stopped in between.
  if (timer === undefined) now = Date.now();
  return useSyncExternalStore(onTick, () => of(now));
}
