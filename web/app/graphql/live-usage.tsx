import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import { useSubscription } from 'urql';
import { UsageRecordedDocument, type UsageRowFragment } from '../../generated/graphql';

type Listener = (event: UsageRowFragment) => void;

const Listeners = createContext<Set<Listener>>(new Set());

/** One subscription for all that is live on a page: each call comes once, however many show it. */
export function LiveUsage({ children }: { children: ReactNode }) {
  const listeners = useRef(new Set<Listener>());
  useSubscription({ query: UsageRecordedDocument }, (_before, { usageRecorded }) => {
    for (const listener of listeners.current) listener(usageRecorded);
    return { usageRecorded };
  });
  return <Listeners.Provider value={listeners.current}>{children}</Listeners.Provider>;
}

/** Calls back with each call of the account once it is charged. */
export function useUsageRecorded(listener: Listener): void {
  const listeners = useContext(Listeners);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const listen: Listener = (event) => latest.current(event);
    listeners.add(listen);
    return () => void listeners.delete(listen);
  }, [listeners]);
}

/** Calls `refresh` soon after calls were charged, at most once in `everyMs`, however many they are. */
export function useRefreshOnUsage(refresh: () => void, everyMs: number): void {
  const timer = useRef<number>(undefined);
  useUsageRecorded(() => {
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      refresh();
    }, everyMs);
  });
  useEffect(() => () => window.clearTimeout(timer.current), []);
}
