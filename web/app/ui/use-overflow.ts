import { type RefObject, useEffect, useState } from 'react';

interface Overflow {
  left: boolean;
  right: boolean;
}

/** On which sides a horizontally scrolled element has more content. */
export function useOverflow(frame: RefObject<HTMLElement | null>): Overflow {
  const [more, setMore] = useState<Overflow>({ left: false, right: false });
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const look = (): void => {
      const left = element.scrollLeft > 0;
      const right = element.scrollLeft + element.clientWidth < element.scrollWidth - 1;
      setMore((before) => (before.left === left && before.right === right ? before : { left, right }));
    };
    const watch = new ResizeObserver(look);
    watch.observe(element);
    for (const child of element.children) watch.observe(child);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [frame]);
  return more;
}
