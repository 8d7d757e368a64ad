import { Link } from '@tanstack/react-router';
import type { NodeMarginFragment } from '../../../generated/graphql';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { formatCount, formatRate } from '../../ui/format';
import { ms } from './benchmark-columns';
import classes from './nodes.module.css';

type Served = NodeMarginFragment['models'][number];

/** A model on a node. */
interface Line extends Served {
  nodeId: string;
  name: string;
}

const none = (why: string) => <span className={classes.why}>{why}</span>;

/** Why a 95th percentile is missing. */
const tooFew = (successes: number): string =>
  successes === 0 ? 'no calls' : `too few calls: ${formatCount(successes)}`;

const at = (from: number, to = from): string =>
  ` at ${from === to ? formatCount(from) : `${formatCount(from)} to ${formatCount(to)}`}`;

function Used({ benchmark }: Pick<Line, 'benchmark'>) {
  if (!benchmark) return '–';
  const { p95LatencyMs, requests, concurrencyFrom, concurrencyTo } = benchmark.usage;
  const where = at(concurrencyFrom, concurrencyTo);
  if (p95LatencyMs == null) return none(tooFew(requests) + where);
  return (
    <>
      {ms(p95LatencyMs)}
      <span className={classes.muted}>{where}</span>
    </>
  );
}

function differenceOf({ benchmark }: Line): string {
  const used = benchmark?.usage.p95LatencyMs;
  if (!benchmark || used == null || benchmark.p95LatencyMs === 0) return '–';
  const share = used / benchmark.p95LatencyMs - 1;
  return share === 0 ? 'the same' : `${formatRate(Math.abs(share))} ${share < 0 ? 'faster' : 'slower'}`;
}

const columns: readonly Column<Line>[] = [
  {
    id: 'model',
    head: 'Model',
    cell: ({ modelPublicName }) => <span className={classes.address}>{modelPublicName}</span>,
  },
  {
    id: 'benchmark',
    head: 'p95 in benchmark',
    figure: true,
    cell: ({ benchmark }) =>
      benchmark ? (
        <>
          {ms(benchmark.p95LatencyMs)}
          <span className={classes.muted}>{at(benchmark.concurrency)}</span>
        </>
      ) : (
        none('no benchmark')
      ),
  },
  {
    id: 'used',
    head: 'p95 in use',
    figure: true,
    cell: ({ benchmark }) => <Used benchmark={benchmark ?? null} />,
  },
  { id: 'difference', head: 'In use it is', figure: true, cell: differenceOf },
  {
    id: 'all',
    head: 'p95 of all calls',
    figure: true,
    cell: ({ p95LatencyMs, requests, errors }) =>
      p95LatencyMs == null ? none(tooFew(requests - errors)) : ms(p95LatencyMs),
  },
  { id: 'requests', head: 'Calls', figure: true, cell: ({ requests }) => formatCount(requests) },
  { id: 'revenue', head: 'Revenue', usd: ({ revenueUsd }) => revenueUsd },
];

const columnsOfAll: readonly Column<Line>[] = [
  {
    id: 'node',
    head: 'Node',
    whole: ({ name }) => name,
    cell: ({ nodeId, name }) => (
      <Link to={paths.node} params={{ nodeId }} search={{ tab: 'benchmarks' }}>
        {name}
      </Link>
    ),
  },
  ...columns,
];

interface LatencyInUseProps {
  /** Undefined while loading. */
  nodes: readonly NodeMarginFragment[] | undefined;
  awaiting: boolean;
  /** Only one node, whose name the page already shows. */
  single?: boolean;
}

/** The 95th percentile of latency of each model on each node: in use, and in the benchmark with as many concurrent calls. */
export function LatencyInUse({ nodes, awaiting, single = false }: LatencyInUseProps) {
  const rows = nodes?.flatMap(({ nodeId, name, models }) =>
    models.map((model): Line => ({ ...model, nodeId, name })),
  );
  return (
    <>
      <DataTable
        label="Latency by model"
        columns={single ? columns : columnsOfAll}
        rows={rows}
        keyOf={({ nodeId, modelPublicName }) => `${nodeId} ${modelPublicName}`}
        awaiting={awaiting}
        empty={`No calls and no benchmarks${single ? ' of this node' : ''}. A call counts for the node whose host and port its deployment has in the routing file; behind LiteLLM, for none.`}
      />
      <p className={classes.hint}>
        In use: successful calls that began while about as many were under way on the node as in its latest
        benchmark. A 95th percentile takes 20 of them. To measure a node, run gateway-bench with --node.
      </p>
    </>
  );
}
