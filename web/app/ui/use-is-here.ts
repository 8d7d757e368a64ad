import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** Whether the user is still on this page and not on the way to another. Late answers must not lead back to it. */
export function useIsHere(): () => boolean {
  const router = useRouter();
  const here = useRef(router.latestLocation.pathname);
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return () => isShown.current && router.latestLocation.pathname === here.current;
}

/**
 * The same for deletions: the object may disappear from the page before the answer comes, and the page is left nevertheless.
 * @returns a function that remembers the current page and returns a check whether it is still shown
 */
export function useNotePlace(): () => () => boolean {
  const router = useRouter();
  return () => {
    const { pathname } = router.latestLocation;
    return () => router.latestLocation.pathname === pathname;
  };
}
