import { useDeferredValue, useEffect } from 'react';

let isShown = false;

/**
 * Whether to render the first view of a visit. The router would render it at once; this defers it to a transition, which React
 * renders in slices, so that a slow phone stays responsive. Until then the document shows its outline. Later views aren't deferred.
 */
export function useFirstView(): boolean {
  const isTime = useDeferredValue(true, isShown);
  useEffect(() => {
    if (isTime) isShown = true;
  }, [isTime]);
  return isTime;
}
