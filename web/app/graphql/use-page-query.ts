import { useEffect, useMemo, useRef } from 'react';
import { type AnyVariables, type DocumentInput, useQuery } from 'urql';
import { onLiveReturn } from '../session';
import { type ShownError, shownError } from './errors';
import { waitToRetry } from './lasting';
import { useAccountChanged } from './live-account';

/** Errors that pass without anybody doing anything. */
const PASSING = new Set(['network', 'platform_unavailable', 'rate_limit_exceeded', 'service_unavailable']);

interface PageQuery<Data, Variables> {
  query: DocumentInput<Data, Variables & AnyVariables>;
  variables: Variables;
  /** Types whose change makes the answer old, though an empty list doesn't show it. */
  touches?: string[];
  /** Whether an answer that is there is good enough to begin with: it was asked for a moment ago. */
  isFresh?: boolean;
}

interface Loaded<Data> {
  /** Undefined until the first answer; the former answer while another is awaited. */
  data: Data | undefined;
  error: ShownError | null;
  /** The data is still the answer to other variables. */
  awaiting: boolean;
  refresh(): void;
}

/**
 * What a page shows: at once what is known, then what is true. It is read again when the connection was lost, when somebody
 * comes back to the page, when balance, plan or keys have changed anywhere, and, less and less often, after an error that passes.
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
        // A hidden page is read again when somebody comes back to it.
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
    // Until another try is answered, what the one before it failed with is still so.
    error: answered.current === wanted ? (shown ?? last.current) : shown,
    awaiting: data !== undefined && answered.current !== wanted,
    refresh,
  };
}
