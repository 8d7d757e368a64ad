import { useEffect, useSyncExternalStore } from 'react';
import { doubtSession } from '../session';

/** Secrets on the screen that can't be shown again and that nobody has copied. */
let uncopied = 0;
/** The session has ended, and the log-in waits for them. */
let isWaiting = false;
const listeners = new Set<() => void>();

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Whether the page must stay although nobody is signed in: the way to the log-in would take a secret away. The secret says so
 * from then on.
 */
export function holdsPage(isSignedOut: boolean): boolean {
  isWaiting = isSignedOut && uncopied > 0;
  for (const listener of listeners) listener();
  return isWaiting;
}

/**
 * Holds the page of a secret that is shown once until it is copied or no longer on the screen, if the session ends elsewhere.
 * @returns whether it has ended
 */
export function useHeldSecret(isCopied: boolean): boolean {
  useEffect(() => {
    if (isCopied) return;
    uncopied++;
    return () => {
      uncopied--;
      if (isWaiting) doubtSession();
    };
  }, [isCopied]);
  return useSyncExternalStore(listen, () => isWaiting);
}
