import { NODE_STATES, type NodeState } from './node-state.rules';

/** What of the board of nodes stands in the address. */
export interface NodesSearch {
  /** What is looked for. */
  q?: string;
  state?: NodeState;
  /** Column by which they are sorted; absent: by name. */
  by?: 'state';
}

const isState = (state: unknown): state is NodeState => NODE_STATES.includes(state as NodeState);

/** From an address; whatever means nothing is left out. */
export const nodesSearch = ({ q, state, by }: Record<string, unknown>): NodesSearch => ({
  ...(typeof q === 'string' && q !== '' && { q }),
  ...(isState(state) && { state }),
  ...(by === 'state' && { by }),
});

export const NODE_TABS = [
  { id: 'load', label: 'Load' },
  { id: 'benchmarks', label: 'Benchmarks' },
  { id: 'agent', label: 'Agent' },
  { id: 'settings', label: 'Settings' },
] as const;
export type NodeTab = (typeof NODE_TABS)[number]['id'];

/** What of the page of a node stands in the address. */
export interface NodeSearch {
  tab?: NodeTab;
}

/** From an address; whatever means nothing is left out. */
export const nodeSearch = ({ tab: wanted }: Record<string, unknown>): NodeSearch => {
  const tab = NODE_TABS.find(({ id }) => id === wanted)?.id;
  return tab ? { tab } : {};
};

/** What of the list of benchmarks stands in the address. */
export interface BenchmarksSearch {
  node?: string;
  model?: string;
  /** From 1. */
  page?: number;
}

/** From an address; whatever means nothing is left out. */
export const benchmarksSearch = ({ node, model, page }: Record<string, unknown>): BenchmarksSearch => ({
  ...(typeof node === 'string' && node !== '' && { node }),
  ...(typeof model === 'string' && model !== '' && { model }),
  ...(typeof page === 'number' && Number.isInteger(page) && page > 1 && { page }),
});
