import { examples } from './examples';

/** What the editors show at first; GraphiQL opens one more tab unless it is what a tab holds. */
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
 * The contents of the tab that was open before a reload. GraphiQL keeps tabs and editors apart and writes them at
 * different moments: after a quick change and reload they don't fit, and it would open a copy of the tab. The first visit
 * shows the first example, whose variables GraphiQL would leave out.
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
