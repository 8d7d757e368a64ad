import { useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/**
 * Closes a dialog that has an address. If it was opened on its page, that page is the previous entry of the history, and closing
 * goes back to it. Replacing the address would leave the page there twice, and Back would seem to do nothing.
 * @param isOpen whether the address opens the dialog.
 * @param leave takes the dialog out of the address, if it was opened by a link.
 */
export function useCloseDialog(isOpen: boolean, leave: () => void): () => void {
  const router = useRouter();
  /** Undefined during a navigation: one that follows at once would leave the place of the closed dialog. */
  const index = useRouterState({
    select: ({ status, resolvedLocation }) =>
      status === 'idle' ? resolvedLocation?.state.__TSR_index : undefined,
  });
  /** The history entry of the page without the dialog. */
  const page = useRef<number>(undefined);
  const isThere = useRef(false);
  useEffect(() => {
    if (!isOpen && index !== undefined) page.current = index;
  }, [isOpen, index]);
  useEffect(() => {
    isThere.current = isOpen;
    return () => {
      isThere.current = false;
    };
  }, [isOpen]);
  return () => {
    // A late answer may close a dialog that is already closed, or whose page was left: nothing happens.
    if (!isThere.current) return;
    const { latestLocation } = router;
    if (page.current === undefined || latestLocation.state.__TSR_index !== page.current + 1) leave();
    else {
      // Closing twice before the browser has gone back would go back two pages.
      isThere.current = false;
      // The router restores the scroll position of when the dialog was opened. New rows may have moved the page since.
      const { scrollX, scrollY } = window;
      const stop = router.subscribe('onRendered', () => {
        stop();
        window.scrollTo(scrollX, scrollY);
      });
      router.history.back({ ignoreBlocker: true });
    }
  };
}
