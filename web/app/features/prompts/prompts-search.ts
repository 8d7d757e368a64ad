import { type PageSearch, pageSearch } from '../../paths';
import { type WindowSearch, windowSearch } from '../analytics/window';

/** What of the list of prompts stands in the address. */
export interface PromptsSearch extends PageSearch {
  /** What is searched for. */
  q?: string;
}

/** From an address; whatever means nothing is left out. */
export const promptsSearch = ({ q, after }: Record<string, unknown>): PromptsSearch => ({
  ...(typeof q === 'string' && q !== '' && { q }),
  ...pageSearch({ after }),
});

/** What a new prompt begins with. */
export interface NewPromptSearch {
  /** Id of a session of the model playground, whose text it takes. */
  session?: string;
  /** The model of that session it is meant for. */
  model?: string;
}

/** From an address; whatever means nothing is left out. */
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

/** What of the page of a prompt stands in the address. */
export interface PromptSearch extends WindowSearch, PageSearch {
  tab?: PromptTab;
  /** Numbers of two versions that are compared. */
  from?: number;
  to?: number;
}

const versionOf = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) > 0 ? (value as number) : undefined;

/** From an address; whatever means nothing is left out. */
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
