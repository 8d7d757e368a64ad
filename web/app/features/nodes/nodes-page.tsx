import { NativeSelect } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { NodeSettingsDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { ButtonLink } from '../../ui/button-link';
import { DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { counted, formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Note } from '../../ui/note';
import { PageHead } from '../../ui/page-head';
import { SearchField } from '../../ui/search-field';
import { Tile, Tiles } from '../../ui/tiles';
import { type LiveNode, useLiveNodes } from './live-nodes';
import { nodeColumns } from './node-columns';
import { stateWord } from './node-facts';
import { isFound, NODE_STATES, type NodeState, stateOf } from './node-state.rules';
import classes from './nodes.module.css';
import { nodesSearch } from './nodes-search';
import { useNodeTime } from './use-node-time';

const REGISTER = <ButtonLink to={paths.newNode}>Register node</ButtonLink>;
/** Until the server has answered how long a node may be silent. */
const NEVER = Number.POSITIVE_INFINITY;

/** `/admin/nodes` */
export function NodesPage(): ReactNode {
  const { nodes: known, error, again } = useLiveNodes();
  const settings = usePageQuery({ query: NodeSettingsDocument, variables: {} });
  const { staleAfterSeconds = NEVER, acceptsHeartbeats = true } = settings.data?.gpuNodeSettings ?? {};
  const nodes = useMemo(() => known && [...known.values()], [known]);
  const isEmpty = nodes?.length === 0;
  // Only once the list has loaded: a link that then moves into the empty state would take the focus with it.
  const hasTools = !isEmpty && (nodes !== undefined || error !== null);
  return (
    <>
      <PageHead
        title="Nodes"
        lead="The machines behind the deployments of the routing file, as they are now. Their addresses are shown to administrators only."
        tools={hasTools && REGISTER}
      />
      {error && <LoadError error={error} onRetry={again} />}
      {settings.error && <LoadError error={settings.error} onRetry={settings.refresh} />}
      {!acceptsHeartbeats && (
        <div className={classes.note}>
          <Note tone="warn">
            Heartbeats are rejected with 503: set <code>GPU_HEARTBEAT_SECRET</code> and restart the gateway.
          </Note>
        </div>
      )}
      {isEmpty ? (
        <Empty action={REGISTER}>
          No nodes yet. Register the machine behind a deployment to see its health and load, and to drain it
          without an error.
        </Empty>
      ) : (
        (nodes || !error) && <Board nodes={nodes} staleAfterSeconds={staleAfterSeconds} />
      )}
    </>
  );
}

interface BoardProps {
  nodes: readonly LiveNode[] | undefined;
  staleAfterSeconds: number;
}

/** The state of each node, which also changes without an event: when a heartbeat is overdue. */
function useStates(nodes: readonly LiveNode[] | undefined, staleAfterSeconds: number): readonly NodeState[] {
  const joined = useNodeTime((now) =>
    (nodes ?? []).map((node) => stateOf(node, now, staleAfterSeconds)).join(),
  );
  return useMemo(() => (joined === '' ? [] : (joined.split(',') as NodeState[])), [joined]);
}

const byName = (a: LiveNode, b: LiveNode): number =>
  a.name.localeCompare(b.name, 'en', { numeric: true }) || (a.id < b.id ? -1 : 1);

function Board({ nodes, staleAfterSeconds }: BoardProps) {
  const { q = '', state, by } = useSearch({ from: '/signed-in/administrators/admin/nodes' });
  const navigate = useNavigate({ from: paths.nodes });
  const states = useStates(nodes, staleAfterSeconds);
  const columns = useMemo(() => nodeColumns(staleAfterSeconds), [staleAfterSeconds]);
  const rows = useMemo(() => {
    const stateById = new Map(nodes?.map(({ id }, index) => [id, states[index]!]));
    const rank = ({ id }: LiveNode): number => NODE_STATES.indexOf(stateById.get(id)!);
    return nodes
      ?.filter((node) => (!state || stateById.get(node.id) === state) && (q === '' || isFound(node, q)))
      .sort((a, b) => (by === 'state' ? rank(a) - rank(b) : 0) || byName(a, b));
  }, [nodes, states, state, q, by]);
  const narrow = (change: Record<string, unknown>): void =>
    void navigate({ search: (before) => nodesSearch({ ...before, ...change }), replace: true });
  return (
    <>
      <Figures nodes={nodes} states={states} />
      <div className={classes.filters}>
        <SearchField
          label="Search nodes"
          placeholder="Name, region, GPU or model"
          value={q}
          counted={rows && nodes && `${formatCount(rows.length)} of ${counted(nodes.length, 'node')}`}
          onChange={(text) => narrow({ q: text })}
        />
        <NativeSelect
          aria-label="State"
          data={[
            { value: '', label: 'Any state' },
            ...NODE_STATES.map((value) => ({ value, label: stateWord(value) })),
          ]}
          value={state ?? ''}
          onChange={({ currentTarget }) => narrow({ state: currentTarget.value })}
        />
      </div>
      <DataTable
        label="Nodes"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        sort={{
          ids: ['name', 'state'],
          by: by ?? 'name',
          descending: false,
          onChange: (id) => narrow({ by: id }),
        }}
        empty="No node matches."
      />
    </>
  );
}

interface FiguresProps {
  nodes: readonly LiveNode[] | undefined;
  states: readonly NodeState[];
}

function Figures({ nodes, states }: FiguresProps) {
  const count = (...wanted: NodeState[]): string =>
    formatCount(states.filter((state) => wanted.includes(state)).length);
  const calls = nodes?.reduce((sum, { inFlight }) => sum + (inFlight ?? 0), 0) ?? 0;
  return (
    <div className={classes.figures}>
      <Tiles>
        <Tile label="Healthy" note={nodes && `of ${formatCount(nodes.length)}`}>
          {nodes && count('healthy')}
        </Tile>
        <Tile label="Unhealthy or silent">{nodes && count('unhealthy', 'silent')}</Tile>
        <Tile label="Draining" note={nodes && `${count('drained')} drained`}>
          {nodes && count('draining')}
        </Tile>
        <Tile label="Offline">{nodes && count('offline')}</Tile>
        <Tile label="Calls in flight">{nodes && formatCount(calls)}</Tile>
      </Tiles>
    </div>
  );
}
