import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** Within this distance, the reader counts as being at the end. */
const NEAR_PX = 24;

/**
 * Keeps the end of a growing text in sight while the reader is at the end.
 * @param grows false for a text that was complete when it was first shown, which is read from the beginning.
 */
export function useFollowEnd(box: RefObject<HTMLElement | null>, text: string, grows: boolean): void {
  const isAtEnd = useRef(grows);
  /** The last scroll position at the end. */
  const top = useRef(0);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = (): void => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
      // Also after the text became shorter, as when a list turns into code.
      if (isAtEnd.current) top.current = element.scrollTop;
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [box]);
  useLayoutEffect(() => {
    const element = box.current;
    // The event of a scroll a moment ago comes after this text.
    if (!element || !isAtEnd.current || element.scrollTop < top.current) return;
    element.scrollTop = element.scrollHeight;
    top.current = element.scrollTop;
  }, [box, text]);
}
