import { useQuery } from 'urql';
import { MorePromptsDocument, WidgetFactsDocument, type WidgetFactsQuery } from '../../../generated/graphql';
import { shownError } from '../../graphql/errors';
import { usePageQuery } from '../../graphql/use-page-query';

/** What the form of a widget chooses from. */
export interface WidgetFacts extends WidgetFactsQuery {
  /** All of the account, newest first. */
  prompts: { id: string; name: string }[];
}

/** What the form of a widget chooses from; undefined until all of it has been read. */
export function useWidgetFacts() {
  const { data, error, refresh } = usePageQuery({ query: WidgetFactsDocument, variables: {} });
  const first = data?.viewer?.prompts;
  // An account has at most as many prompts as two pages hold.
  const hasMore = first?.pageInfo.hasNextPage ?? false;
  const [more, readMore] = useQuery({
    query: MorePromptsDocument,
    variables: { after: first?.pageInfo.endCursor ?? null },
    requestPolicy: 'cache-and-network',
    pause: !hasMore,
  });
  const rest = hasMore ? more.data?.viewer?.prompts : { nodes: [] };
  const facts: WidgetFacts | undefined = data &&
    rest && { ...data, prompts: [...(first?.nodes ?? []), ...rest.nodes] };
  return {
    facts,
    error: error ?? (more.error ? shownError(more.error) : null),
    refresh: () => {
      refresh();
      if (hasMore) readMore({ requestPolicy: 'network-only' });
    },
  };
}
