import { useEffect, useSyncExternalStore } from 'react';
import { doubtSession } from '../session';

/** Number of secrets on the screen that can't be shown again and weren't copied. */
let uncopied = 0;
/** The session has ended, and the log-in waits for these secrets. */
let isWaiting = false;
const listeners = new Set<() => void>();

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Whether the page must stay although nobody is signed in: going to the log-in would lose a secret. From then on, the secret shows
 * that the session has ended.
 */
export function holdsPage(isSignedOut: boolean): boolean {
  isWaiting = isSignedOut && uncopied > 0;
  for (const listener of listeners) listener();
  return isWaiting;
}

/**
 * Keeps the page of a secret that is shown once, if the session ends elsewhere, until the secret was copied or closed.
 * @returns whether the session has ended
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
