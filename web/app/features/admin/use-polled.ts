import { useEffect, useRef } from 'react';

/** Calls `refresh` every `everyMs` while the page is visible. */
export function usePolled(refresh: () => void, everyMs: number): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
