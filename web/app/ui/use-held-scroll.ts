import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Scrolls the page along when rows are added above, so that the text being read doesn't move. Not every browser does so by itself.
 * If the top of the list is in sight, the list simply grows.
 * @param newest changes when rows have come
 */
export function useHeldScroll(list: RefObject<HTMLElement | null>, newest: string | undefined): void {
  const before = useRef<{ height: number; newest: string | undefined }>(undefined);
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const { top, height } = element.getBoundingClientRect();
    const known = before.current;
    before.current = { height, newest };
    if (!known || known.newest === newest || known.newest === undefined || top >= 0) return;
    const grown = height - known.height;
    if (grown > 0) window.scrollBy(0, grown);
  });
}
