import { type PageSearch, pageSearch } from '../../paths';
import { type WindowSearch, windowSearch } from '../analytics/window';

export const DEFAULT_KEY_SORT = 'created';

/** What of the list of keys stands in the address. */
export interface KeysSearch {
  /** Column; absent: by creation. */
  sort?: string;
  /** Whether the dialog for a new key is open. */
  create?: boolean;
}

const SORTS = ['name', 'spend', 'used', 'created'];

/** From an address; whatever means nothing is left out. */
export const keysSearch = ({ sort, create }: Record<string, unknown>): KeysSearch => ({
  ...(typeof sort === 'string' && SORTS.includes(sort) && { sort }),
  ...(create === true && { create }),
});

export const KEY_TABS = [
  { id: 'snippets', label: 'Snippets' },
  { id: 'analytics', label: 'Analytics' },
  { id: 'caps', label: 'Caps' },
  { id: 'alerts', label: 'Alerts' },
] as const;
export type KeyTab = (typeof KEY_TABS)[number]['id'];

/** What of the page of a key stands in the address. */
export interface KeySearch extends WindowSearch, PageSearch {
  tab?: KeyTab;
}

/** From an address; whatever means nothing is left out. */
export const keySearch = (search: Record<string, unknown>): KeySearch => {
  const tab = KEY_TABS.find(({ id }) => id === search.tab)?.id;
  return { ...windowSearch(search), ...pageSearch(search), ...(tab && { tab }) };
};
