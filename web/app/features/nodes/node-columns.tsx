import { Link } from '@tanstack/react-router';
import { paths } from '../../paths';
import type { Column } from '../../ui/data-table';
import type { LiveNode } from './live-nodes';
import { CallsInFlight, gigabytes, HeartbeatAge, percent, StateOfNode } from './node-facts';
import { StatusButton } from './node-status';
import classes from './nodes.module.css';

const modelsOf = ({ readings }: LiveNode): string => readings.loadedModels?.value.join(', ') ?? '';

function requests({ readings: { requestsRunning: running, requestsWaiting: waiting } }: LiveNode) {
  if (!running && !waiting) return '–';
  return `${running?.value ?? '–'} / ${waiting?.value ?? '–'}`;
}

/** The columns of the list of nodes. */
export const nodeColumns = (staleAfterSeconds: number): readonly Column<LiveNode>[] => [
  {
    id: 'name',
    head: 'Node',
    whole: ({ name }) => name,
    phone: 1,
    cell: ({ id, name }) => (
      <Link to={paths.node} params={{ nodeId: id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    head: 'State',
    phone: 2,
    cell: (node) => <StateOfNode node={node} staleAfterSeconds={staleAfterSeconds} />,
  },
  {
    id: 'age',
    head: 'Last heartbeat',
    figure: true,
    phone: 11,
    cell: (node) => <HeartbeatAge node={node} staleAfterSeconds={staleAfterSeconds} />,
  },
  {
    id: 'utilization',
    head: 'GPU',
    figure: true,
    phone: 12,
    cell: ({ readings: { gpuUtilization: gpu } }) => (gpu ? percent(gpu.value) : '–'),
  },
  {
    id: 'memory',
    head: 'Memory used',
    figure: true,
    cell: ({ readings: { memoryUsedGb: memory } }) => (memory ? gigabytes(memory.value) : '–'),
  },
  { id: 'requests', head: 'Running / waiting', figure: true, cell: requests },
  { id: 'flight', head: 'In flight', figure: true, cell: (node) => <CallsInFlight node={node} /> },
  { id: 'models', head: 'Models', whole: modelsOf, cell: (node) => modelsOf(node) || '–' },
  {
    id: 'place',
    head: 'Hardware',
    whole: ({ gpuType, provider, region }) => `${gpuType}, ${provider}, ${region}`,
    cell: ({ gpuType, region }) => (
      <>
        {gpuType} <span className={classes.muted}>{region}</span>
      </>
    ),
  },
  {
    id: 'actions',
    head: 'Actions',
    actions: true,
    phone: 13,
    cell: (node) => (
      <StatusButton node={node} to={node.status === 'ACTIVE' ? 'DRAINING' : 'ACTIVE'} compact />
    ),
  },
];
