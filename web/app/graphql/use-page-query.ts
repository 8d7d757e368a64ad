import { useEffect, useMemo, useRef } from 'react';
import { type AnyVariables, type DocumentInput, useQuery } from 'urql';
import { onLiveReturn } from '../session';
import { type ShownError, shownError } from './errors';
import { waitToRetry } from './lasting';
import { useAccountChanged } from './live-account';

/** Codes of temporary errors. */
const PASSING = new Set(['network', 'platform_unavailable', 'rate_limit_exceeded', 'service_unavailable']);

interface PageQuery<Data, Variables> {
  query: DocumentInput<Data, Variables & AnyVariables>;
  variables: Variables;
  /** Types whose change makes the answer old, even if it has none of them, as in an empty list. */
  touches?: string[];
  /** Whether a cached answer is enough for the first view: it was requested a moment ago. */
  isFresh?: boolean;
}

interface Loaded<Data> {
  /** Undefined until the first answer; the previous answer while another is awaited. */
  data: Data | undefined;
  error: ShownError | null;
  /** The data is still the answer to other variables. */
  awaiting: boolean;
  refresh(): void;
}

/**
 * The data of a page: first from the cache, then from the server. Repeated when the connection was lost, when the user comes back
 * to the page, when balance, plan or keys have changed anywhere, and, less and less often, after a temporary error.
 */
export function usePageQuery<Data, Variables extends AnyVariables>({
  query,
  variables,
  touches,
  isFresh = false,
}: PageQuery<Data, Variables>): Loaded<Data> {
  const touched = touches?.join(' ');
  const context = useMemo(() => ({ additionalTypenames: touched?.split(' ') ?? [] }), [touched]);
  const [{ data, error, fetching, stale }, ask] = useQuery({
    query,
    variables: variables as Variables & AnyVariables,
    context,
    requestPolicy: isFresh ? 'cache-first' : 'cache-and-network',
  } as Parameters<typeof useQuery<Data, Variables>>[0]);
  const wanted = JSON.stringify(variables);
  const answered = useRef(wanted);
  if (!fetching) answered.current = wanted;
  const refresh = (): void => ask({ requestPolicy: 'network-only' });
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    const stop = onLiveReturn(() => latest.current());
    return () => void stop();
  }, []);
  useAccountChanged((changed) => {
    if (changed.some((part) => part !== 'REFUSED_CALLS')) refresh();
  });
  /** The same as long as no other answer has come. */
  const shown = useMemo(() => (error ? shownError(error) : null), [error]);
  const attempts = useRef(0);
  useEffect(() => {
    if (fetching || stale) return;
    if (!shown) attempts.current = 0;
    else if (PASSING.has(shown.code)) {
      let isOver = false;
      void waitToRetry(attempts.current++).then(() => {
        // A hidden page is refreshed when the user comes back to it.
        if (!isOver && document.visibilityState === 'visible') latest.current();
      });
      return () => {
        isOver = true;
      };
    }
    return undefined;
  }, [shown, fetching, stale]);
  const last = useRef(shown);
  if (!fetching && !stale) last.current = shown;
  return {
    data,
    // Keeps the previous error until another try is answered.
    error: answered.current === wanted ? (shown ?? last.current) : shown,
    awaiting: data !== undefined && answered.current !== wanted,
    refresh,
  };
}
