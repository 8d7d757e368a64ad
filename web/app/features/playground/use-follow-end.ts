import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** So near counts as the end. */
const NEAR_PX = 24;

/**
 * Keeps the end of a text that grows in sight, but only while its reader is there.
 * @param grows is false for a text that was whole when it was first shown: it is read from its beginning.
 */
export function useFollowEnd(box: RefObject<HTMLElement | null>, text: string, grows: boolean): void {
  const isAtEnd = useRef(grows);
  /** Where the end was seen last. */
  const top = useRef(0);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = (): void => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
      // Also of a text that has become shorter, as when a list turns into code.
      if (isAtEnd.current) top.current = element.scrollTop;
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [box]);
  useLayoutEffect(() => {
    const element = box.current;
    // Who scrolled up a moment ago is told of by an event that comes after this text.
    if (!element || !isAtEnd.current || element.scrollTop < top.current) return;
    element.scrollTop = element.scrollHeight;
    top.current = element.scrollTop;
  }, [box, text]);
}
