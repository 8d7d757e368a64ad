import { NODE_STATES, type NodeState } from './node-state.rules';

/** Search parameters of the board of nodes. */
export interface NodesSearch {
  /** The text to search for. */
  q?: string;
  state?: NodeState;
  /** Sort column; absent: by name. */
  by?: 'state';
}

const isState = (state: unknown): state is NodeState => NODE_STATES.includes(state as NodeState);

/** Reads the search parameters; drops invalid ones. */
export const nodesSearch = ({ q, state, by }: Record<string, unknown>): NodesSearch => ({
  ...(typeof q === 'string' && q !== '' && { q }),
  ...(isState(state) && { state }),
  ...(by === 'state' && { by }),
});

export const NODE_TABS = [
  { id: 'load', label: 'Load' },
  { id: 'margin', label: 'Margin' },
  { id: 'benchmarks', label: 'Benchmarks' },
  { id: 'agent', label: 'Agent' },
  { id: 'settings', label: 'Settings' },
] as const;
export type NodeTab = (typeof NODE_TABS)[number]['id'];

/** Windows of margins to choose from, in days up to now. */
export const MARGIN_WINDOWS = [1, 7, 30] as const;
export type MarginWindow = (typeof MARGIN_WINDOWS)[number];
export const DEFAULT_MARGIN_WINDOW: MarginWindow = 7;

const windowOf = ({ window }: Record<string, unknown>): MarginWindow | undefined =>
  MARGIN_WINDOWS.find((days) => days === Number(window));

/** Search parameters of the page of a node. */
export interface NodeSearch {
  tab?: NodeTab;
  /** The window of the margin. */
  window?: MarginWindow;
}

/** Reads the search parameters; drops invalid ones. */
export const nodeSearch = (search: Record<string, unknown>): NodeSearch => {
  const tab = NODE_TABS.find(({ id }) => id === search.tab)?.id;
  const window = windowOf(search);
  return { ...(tab && { tab }), ...(window && { window }) };
};

/** Search parameters of the margins of all nodes. */
export interface MarginSearch {
  window?: MarginWindow;
  /** Sort column; absent: by margin. */
  by?: 'name';
}

/** Reads the search parameters; drops invalid ones. */
export const marginSearch = (search: Record<string, unknown>): MarginSearch => {
  const window = windowOf(search);
  return { ...(window && { window }), ...(search.by === 'name' && { by: search.by }) };
};

/** The runs to compare. */
export interface ChosenRuns {
  base?: string;
  other?: string;
  /** Their model. */
  of?: string;
}

/** Search parameters of the list of benchmarks. */
export interface BenchmarksSearch extends ChosenRuns {
  node?: string;
  model?: string;
  /** From 1. */
  page?: number;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function chosenOf({ base, other, of }: Record<string, unknown>): ChosenRuns {
  if (!isText(base)) return {};
  return { base, ...(isText(other) && other !== base && { other }), ...(isText(of) && { of }) };
}

/** Reads the search parameters; drops invalid ones. */
export const benchmarksSearch = (search: Record<string, unknown>): BenchmarksSearch => {
  const { node, model, page } = search;
  return {
    ...(isText(node) && { node }),
    ...(isText(model) && { model }),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 1 && { page }),
    ...chosenOf(search),
  };
};
