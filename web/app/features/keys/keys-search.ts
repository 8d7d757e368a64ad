import { type PageSearch, pageSearch } from '../../paths';
import { type WindowSearch, windowSearch } from '../analytics/window';

/** Columns by which the server sorts keys. */
export const KEY_ORDERS = { name: 'NAME', spend: 'SPEND', used: 'USED', created: 'CREATED' } as const;
export const DEFAULT_KEY_SORT = 'created';

/** Search parameters of the list of keys. */
export interface KeysSearch {
  /** Absent: by creation. */
  sort?: keyof typeof KEY_ORDERS;
  /** The text to search for. */
  q?: string;
  /** Cursor after which the page begins; absent: the first page. */
  after?: string;
  /** Whether the dialog for a new key is open. */
  create?: boolean;
}

const isSort = (sort: unknown): sort is keyof typeof KEY_ORDERS =>
  typeof sort === 'string' && Object.hasOwn(KEY_ORDERS, sort);

/** Reads the search parameters; drops invalid ones. */
export const keysSearch = ({ sort, q, after, create }: Record<string, unknown>): KeysSearch => ({
  ...(isSort(sort) && { sort }),
  ...(typeof q === 'string' && q !== '' && { q }),
  ...pageSearch({ after }),
  ...(create === true && { create }),
});

export const KEY_TABS = [
  { id: 'snippets', label: 'Snippets' },
  { id: 'analytics', label: 'Analytics' },
  { id: 'caps', label: 'Caps' },
  { id: 'alerts', label: 'Alerts' },
] as const;
export type KeyTab = (typeof KEY_TABS)[number]['id'];

/** Search parameters of the page of a key. */
export interface KeySearch extends WindowSearch, PageSearch {
  tab?: KeyTab;
  /** Whether the dialog for a new alert is open. */
  create?: boolean;
}

/** Reads the search parameters; drops invalid ones. */
export const keySearch = (search: Record<string, unknown>): KeySearch => {
  const tab = KEY_TABS.find(({ id }) => id === search.tab)?.id;
  return {
    ...windowSearch(search),
    ...pageSearch(search),
    ...(tab && { tab }),
    ...(search.create === true && { create: true }),
  };
};
