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
