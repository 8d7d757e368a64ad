import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** Tells whether somebody is still on this page, and not on the way to another: nothing that ends later may bring them back. */
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
 * The same for what is deleted: it may be gone from the page before the answer comes, and the page is to be left all the same.
 * @returns notes where somebody is; what that returns tells whether they are still there
 */
export function useNotePlace(): () => () => boolean {
  const router = useRouter();
  return () => {
    const { pathname } = router.latestLocation;
    return () => router.latestLocation.pathname === pathname;
  };
}
