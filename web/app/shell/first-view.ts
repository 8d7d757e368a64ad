import { useDeferredValue, useEffect } from 'react';

let isShown = false;

/**
 * Whether to render what a visit begins with. The router renders at once what it has come to; that is handed on, to be rendered
 * in slices, so that a slow phone stays responsive. The outline in the document stands as long. Later views replace each other at once.
 */
export function useFirstView(): boolean {
  const isTime = useDeferredValue(true, isShown);
  useEffect(() => {
    if (isTime) isShown = true;
  }, [isTime]);
  return isTime;
}
