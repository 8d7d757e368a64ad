import { useSubscription } from 'urql';
import {
  GpuNodesChangedDocument,
  type GpuNodesChangedSubscription,
  type GpuNodesChangedSubscriptionVariables,
  type NodeRowFragment,
} from '../../../generated/graphql';
import { type ShownError, shownError } from '../../graphql/errors';

/** A node with the time of its last heartbeat by the browser's clock, which may differ from the server's. */
export interface LiveNode extends NodeRowFragment {
  /** Milliseconds; null before the first heartbeat. */
  heardAtMs: number | null;
}

type Known = ReadonlyMap<string, LiveNode>;

const MS = 1_000;

const liveNode = (node: NodeRowFragment, now: number): LiveNode => ({
  ...node,
  heardAtMs: node.heartbeatAgeSeconds == null ? null : now - node.heartbeatAgeSeconds * MS,
});

/** Merges an event. Unchanged nodes stay the same objects, so that their rows aren't rendered again. */
function merged(before: Known | undefined, { gpuNodesChanged: news }: GpuNodesChangedSubscription): Known {
  const now = Date.now();
  const known = new Map(news.isSnapshot ? [] : before);
  for (const id of news.deletedNodeIds) known.delete(id);
  for (const node of news.nodes) known.set(node.id, liveNode(node, now));
  return known;
}

interface LiveNodes {
  /** By id; undefined until the first event. After a lost connection, the server sends all of them again. */
  nodes: Known | undefined;
  error: ShownError | null;
  again(): void;
}

/** Live data of all nodes, or of one. The server sends at most a few events a second. */
export function useLiveNodes(nodeId: string | null = null): LiveNodes {
  const [{ data, error }, again] = useSubscription<
    GpuNodesChangedSubscription,
    Known,
    GpuNodesChangedSubscriptionVariables
  >({ query: GpuNodesChangedDocument, variables: { nodeId } }, merged);
  return { nodes: data, error: error ? shownError(error) : null, again };
}
