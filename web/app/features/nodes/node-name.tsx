import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { paths } from '../../paths';

/** The limit of the `NodeNames` query. */
const MOST_NAMES = 500;
const DELETED = 'deleted node';

/** The known names of nodes by id. */
export interface NodeNames {
  byId: ReadonlyMap<string, string>;
  /** Whether all nodes are included: then a missing node was deleted. */
  isComplete: boolean;
}

/** Reads an answer; undefined before the first one. */
export const nodeNames = (nodes: readonly { id: string; name: string }[] | null | undefined): NodeNames => ({
  byId: new Map(nodes?.map(({ id, name }) => [id, name])),
  isComplete: nodes != null && nodes.length < MOST_NAMES,
});

/** The name of a run's node; its id while the name is unknown. */
export const nodeName = ({ byId, isComplete }: NodeNames, id: string): string =>
  byId.get(id) ?? (isComplete ? DELETED : id);

/** The name of a node, linked to its benchmarks. */
export function NodeName({ id, names }: { id: string; names: NodeNames }): ReactNode {
  if (names.isComplete && !names.byId.has(id)) return DELETED;
  return (
    <Link to={paths.node} params={{ nodeId: id }} search={{ tab: 'benchmarks' }}>
      {nodeName(names, id)}
    </Link>
  );
}
