import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { paths } from '../../paths';

/** As many nodes as `NodeNames` asks for. */
const MOST_NAMES = 500;
const DELETED = 'deleted node';

/** Names of nodes by their ids, as far as they are known. */
export interface NodeNames {
  byId: ReadonlyMap<string, string>;
  /** Whether all are there: a node that isn't among them was deleted. */
  isComplete: boolean;
}

/** From the answer; undefined while there is none. */
export const nodeNames = (nodes: readonly { id: string; name: string }[] | null | undefined): NodeNames => ({
  byId: new Map(nodes?.map(({ id, name }) => [id, name])),
  isComplete: nodes != null && nodes.length < MOST_NAMES,
});

/** The name of the node of a run, its id while that isn't known. */
export const nodeName = ({ byId, isComplete }: NodeNames, id: string): string =>
  byId.get(id) ?? (isComplete ? DELETED : id);

/** A node by its name, which leads to its benchmarks. */
export function NodeName({ id, names }: { id: string; names: NodeNames }): ReactNode {
  if (names.isComplete && !names.byId.has(id)) return DELETED;
  return (
    <Link to={paths.node} params={{ nodeId: id }} search={{ tab: 'benchmarks' }}>
      {nodeName(names, id)}
    </Link>
  );
}
