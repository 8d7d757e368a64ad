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
 * What a function makes of the time in milliseconds, each second. One clock ticks for all of a page, and only what has changed is
 * drawn again.
 */
export function useTicking<Value extends string | number | boolean | null>(
  of: (nowMs: number) => Value,
): Value {
  // Between two ticks nothing changes, unless the clock has stood still while nobody looked.
  if (timer === undefined) now = Date.now();
  return useSyncExternalStore(onTick, () => of(now));
}
