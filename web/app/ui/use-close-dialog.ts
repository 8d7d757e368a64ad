import { useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/**
 * How a dialog with an address is closed. Where it was opened over its page, the page is the entry before in the history, and
 * closing goes back there. If the address were replaced instead, the page would be there twice, and Back would seem to do nothing.
 * @param isOpen whether the address opens the dialog.
 * @param leave takes the dialog out of the address, for whoever came to it by a link.
 */
export function useCloseDialog(isOpen: boolean, leave: () => void): () => void {
  const router = useRouter();
  const index = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.state.__TSR_index });
  /** Where the page without the dialog was seen last. */
  const page = useRef<number>(undefined);
  const isThere = useRef(false);
  useEffect(() => {
    if (!isOpen) page.current = index;
  }, [isOpen, index]);
  useEffect(() => {
    isThere.current = isOpen;
    return () => {
      isThere.current = false;
    };
  }, [isOpen]);
  return () => {
    // An answer may close it that comes when it was closed, or its page left: the visitor stays where they are.
    if (!isThere.current) return;
    const { latestLocation } = router;
    if (page.current === undefined || latestLocation.state.__TSR_index !== page.current + 1) leave();
    else {
      // Closed twice before the browser is there, it would lead one page further.
      isThere.current = false;
      // The router goes to where the page was when the dialog was opened. It may have scrolled along with rows since.
      const { scrollX, scrollY } = window;
      const stop = router.subscribe('onRendered', () => {
        stop();
        window.scrollTo(scrollX, scrollY);
      });
      router.history.back({ ignoreBlocker: true });
    }
  };
}
