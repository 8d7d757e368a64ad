import { useQuery } from 'urql';
import { ViewerDocument } from '../../generated/graphql';

/** Whether to offer the pages of administrators. The server guards their data. */
export function useIsAdmin(): boolean {
  const [{ data }] = useQuery({ query: ViewerDocument });
  return data?.viewer?.role === 'ADMIN';
}
