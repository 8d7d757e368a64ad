import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import { type DocumentInput, useSubscription } from 'urql';

/**
 * One subscription for all listeners of a page: each event reaches every listener once.
 * @returns a component to wrap the page in, and the hooks of the listeners
 */
export function createLiveEvents<Data, Event>(
  query: DocumentInput<Data, Record<string, never>>,
  eventOf: (data: Data) => Event,
) {
  type Listener = (event: Event) => void;
  const Listeners = createContext<Set<Listener>>(new Set());

  function Provider({ children }: { children: ReactNode }) {
    const listeners = useRef(new Set<Listener>());
    useSubscription({ query, variables: {} }, (_before, data) => {
      for (const listener of listeners.current) listener(eventOf(data));
      return data;
    });
    return <Listeners.Provider value={listeners.current}>{children}</Listeners.Provider>;
  }

  function useEvent(listener: Listener): void {
    const listeners = useContext(Listeners);
    const latest = useRef(listener);
    latest.current = listener;
    useEffect(() => {
      const listen: Listener = (event) => latest.current(event);
      listeners.add(listen);
      return () => void listeners.delete(listen);
    }, [listeners]);
  }

  /** Calls `refresh` soon after matching events, at most once in `everyMs`, however many there are. */
  function useRefresh(refresh: () => void, everyMs: number, isMeant: (event: Event) => boolean = () => true) {
    const timer = useRef<number>(undefined);
    useEvent((event) => {
      if (!isMeant(event)) return;
      timer.current ??= window.setTimeout(() => {
        timer.current = undefined;
        refresh();
      }, everyMs);
    });
    useEffect(() => () => window.clearTimeout(timer.current), []);
  }

  return { Provider, useEvent, useRefresh };
}
