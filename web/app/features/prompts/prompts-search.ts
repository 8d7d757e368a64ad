import { type PageSearch, pageSearch } from '../../paths';
import { type WindowSearch, windowSearch } from '../analytics/window';

/** Search parameters of the list of prompts. */
export interface PromptsSearch extends PageSearch {
  /** The text to search for. */
  q?: string;
}

/** Reads the search parameters; drops invalid ones. */
export const promptsSearch = ({ q, after }: Record<string, unknown>): PromptsSearch => ({
  ...(typeof q === 'string' && q !== '' && { q }),
  ...pageSearch({ after }),
});

/** Search parameters of the page of a new prompt. */
export interface NewPromptSearch {
  /** Id of a session of the model playground, whose text is taken over. */
  session?: string;
  /** The model of that session to take over. */
  model?: string;
}

/** Reads the search parameters; drops invalid ones. */
export const newPromptSearch = ({ session, model }: Record<string, unknown>): NewPromptSearch => ({
  ...(typeof session === 'string' && session !== '' && { session }),
  ...(typeof model === 'string' && model !== '' && { model }),
});

export const PROMPT_TABS = [
  { id: 'editor', label: 'Editor' },
  { id: 'versions', label: 'Versions' },
  { id: 'diff', label: 'Compare' },
  { id: 'render', label: 'Render' },
  { id: 'stats', label: 'Statistics' },
] as const;
export type PromptTab = (typeof PROMPT_TABS)[number]['id'];

/** Search parameters of the page of a prompt. */
export interface PromptSearch extends WindowSearch, PageSearch {
  tab?: PromptTab;
  /** Numbers of the two compared versions. */
  from?: number;
  to?: number;
}

const versionOf = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) > 0 ? (value as number) : undefined;

/** Reads the search parameters; drops invalid ones. */
export const promptSearch = (search: Record<string, unknown>): PromptSearch => {
  const tab = PROMPT_TABS.find(({ id }) => id === search.tab)?.id;
  const from = versionOf(search.from);
  const to = versionOf(search.to);
  return {
    ...windowSearch(search),
    ...pageSearch(search),
    ...(tab && { tab }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
};
