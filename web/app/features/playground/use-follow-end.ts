import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** So near counts as the end. */
const NEAR_PX = 24;

/**
 * Keeps the end of a text that grows in sight, but only while its reader is there.
 * @param grows is false for a text that was whole when it was first shown: it is read from its beginning.
 */
export function useFollowEnd(box: RefObject<HTMLElement | null>, text: string, grows: boolean): void {
  const isAtEnd = useRef(grows);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = (): void => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [box]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [box, text]);
}
