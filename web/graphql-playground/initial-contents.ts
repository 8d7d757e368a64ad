import { examples } from './examples';

/** The first contents of the editors. GraphiQL opens one more tab unless a tab holds exactly these. */
interface InitialContents {
  initialQuery?: string;
  initialVariables?: string;
  initialHeaders?: string;
}

interface StoredTabs {
  tabs: { query: string | null; variables: string | null; headers: string | null }[];
  activeTabIndex: number;
}

/**
 * The contents of the tab that was open before a reload. GraphiQL stores tabs and editors separately, at different times: after a
 * quick change and reload they differ, and it would open a copy of the tab. A first visit shows the first example, whose variables
 * GraphiQL would leave out.
 */
export function initialContents(): InitialContents {
  const stored = sessionStorage.getItem('graphiql:tabState');
  if (stored === null) return { initialVariables: examples[0]!.variables };
  const { tabs, activeTabIndex } = JSON.parse(stored) as StoredTabs;
  const active = tabs[activeTabIndex];
  return {
    initialQuery: active?.query ?? '',
    initialVariables: active?.variables ?? '',
    initialHeaders: active?.headers ?? '',
  };
}
