import { useMemo } from 'react';
import { type AnyVariables, type DocumentInput, useQuery } from 'urql';
import { type ShownError, shownError } from './errors';

interface PageQuery<Data, Variables> {
  query: DocumentInput<Data, Variables & AnyVariables>;
  variables: Variables;
  /** Types whose change makes the answer old, though an empty list doesn't show it. */
  touches?: string[];
}

interface Loaded<Data> {
  /** Undefined until the first answer; the former answer while another is awaited. */
  data: Data | undefined;
  error: ShownError | null;
  /** Whether `data` belongs to former variables. */
  awaiting: boolean;
  refresh(): void;
}

/** What a page shows: at once what is known, then what is true. */
export function usePageQuery<Data, Variables extends AnyVariables>({
  query,
  variables,
  touches,
}: PageQuery<Data, Variables>): Loaded<Data> {
  const touched = touches?.join(' ');
  const context = useMemo(() => ({ additionalTypenames: touched?.split(' ') ?? [] }), [touched]);
  const [{ data, error, fetching, stale }, ask] = useQuery({
    query,
    variables: variables as Variables & AnyVariables,
    context,
    requestPolicy: 'cache-and-network',
  } as Parameters<typeof useQuery<Data, Variables>>[0]);
  return {
    data,
    error: error ? shownError(error) : null,
    awaiting: fetching && !stale,
    refresh: () => ask({ requestPolicy: 'network-only' }),
  };
}
