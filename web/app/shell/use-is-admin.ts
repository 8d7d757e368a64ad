import { useQuery } from 'urql';
import { ViewerDocument } from '../../generated/graphql';

/** Whether the pages of administrators are offered. What they show is guarded by the server. */
export function useIsAdmin(): boolean {
  const [{ data }] = useQuery({ query: ViewerDocument });
  return data?.viewer?.role === 'ADMIN';
}
