import { requireAdmin, type ServiceContext } from '../../context.js';
import { idOrText } from '../../lib/uuid.js';
import { shownNodes } from '../nodes/node-views.js';
import type { NodesChangeOutput } from '../nodes/nodes.outputs.js';
import { findNodes, nodeMarks } from '../nodes/nodes.store.js';
import { createAccountStreams } from './account-streams.js';
import { endable } from './endable.js';
import type { Signals } from './signals.js';

/** Two hundred nodes send heartbeats several times a second; changes are read together after this pause. */
const PAUSE_MS = 250;

export interface NodeFeed {
  /**
   * All nodes, then their changes from now on; only one node if its id is given. Changes in quick succession come as
   * one event. @throws AppError `unauthorized`, `forbidden`
   */
  nodesChanged(context: ServiceContext, nodeId?: string): Promise<AsyncIterableIterator<NodesChangeOutput>>;
}

/** Compares the state of each node with the last one sent. */
export function createNodeFeed({ signals }: { signals: Pick<Signals, 'onNodes'> }): NodeFeed {
  const follow = createAccountStreams<ReadonlyMap<string, string>, NodesChangeOutput>({
    onSignal: (_accountId, listener) => withPauses(signals, listener),
    readsAtOnce: 1,
    sourceOf: (context) => ({
      begin: () => nodeMarks(context.em),
      async advance(from) {
        const to = await nodeMarks(context.em);
        const changed = [...to.keys()].filter((id) => from.get(id) !== to.get(id));
        const deleted = [...from.keys()].filter((id) => !to.has(id));
        if (changed.length + deleted.length === 0) return { rows: [], to };
        const nodes = changed.length === 0 ? [] : await findNodes(context.em, changed);
        const row = {
          is_snapshot: false,
          nodes: await shownNodes(context, nodes),
          deleted_node_ids: deleted,
        };
        return { rows: [row], to };
      },
      isWhole: () => true,
    }),
  });
  return {
    async nodesChanged(context, nodeId) {
      requireAdmin(context);
      const news = await follow(context);
      return endable(
        beginningWithAll(context, news, nodeId === undefined ? undefined : idOrText(nodeId)),
        () => void news.return?.(),
      );
    },
  };
}

/** The first read includes all earlier changes; signals of changes that it already includes cause one more event. */
async function* beginningWithAll(
  context: ServiceContext,
  news: AsyncIterable<NodesChangeOutput>,
  nodeId: string | undefined,
): AsyncGenerator<NodesChangeOutput, void> {
  const isMeant = (id: string): boolean => nodeId === undefined || id === nodeId;
  const all = (await findNodes(context.em)).filter(({ id }) => isMeant(id));
  yield { is_snapshot: true, nodes: await shownNodes(context, all), deleted_node_ids: [] };
  for await (const { nodes, deleted_node_ids: deleted, ...change } of news) {
    const own = { nodes: nodes.filter(({ id }) => isMeant(id)), deleted_node_ids: deleted.filter(isMeant) };
    if (own.nodes.length + own.deleted_node_ids.length > 0) yield { ...change, ...own };
  }
}

/**
 * Passes the first signal on at once, and all signals during the pause after it as one. Returns a function that stops
 * this.
 */
function withPauses({ onNodes }: Pick<Signals, 'onNodes'>, listener: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let again = false;
  const pass = (): void => {
    listener();
    again = false;
    timer = setTimeout(() => {
      timer = undefined;
      if (again) pass();
    }, PAUSE_MS).unref();
  };
  const leave = onNodes(() => {
    if (timer) again = true;
    else pass();
  });
  return () => {
    clearTimeout(timer);
    leave();
  };
}
