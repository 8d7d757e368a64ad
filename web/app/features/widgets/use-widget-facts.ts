import { useQuery } from 'urql';
import { MorePromptsDocument, WidgetFactsDocument, type WidgetFactsQuery } from '../../../generated/graphql';
import { shownError } from '../../graphql/errors';
import { usePageQuery } from '../../graphql/use-page-query';

/** The options of a widget's form. */
export interface WidgetFacts extends WidgetFactsQuery {
  /** All prompts of the account, newest first. */
  prompts: { id: string; name: string }[];
}

/** Loads the options of a widget's form; undefined until all are loaded. */
export function useWidgetFacts() {
  const { data, error, refresh } = usePageQuery({ query: WidgetFactsDocument, variables: {} });
  const first = data?.viewer?.prompts;
  // All prompts that an account may have fit on two pages.
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
