import { NativeSelect } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import {
  type BenchmarkRowFragment,
  BenchmarksDocument,
  LatestBenchmarksDocument,
  NodeNamesDocument,
} from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { LineChart } from '../../ui/line-chart';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Pager } from '../../ui/pager';
import { Section } from '../../ui/section';
import { benchmarkColumns } from './benchmark-columns';
import { decimal } from './node-facts';
import classes from './nodes.module.css';
import { type BenchmarksSearch, benchmarksSearch } from './nodes-search';

const PAGE = 50;
const COMMAND =
  'npm run gateway-bench -- --url URL --key-file key --model gateway/fast --node ID --secret-file FILE';

/** `/admin/benchmarks` */
export function BenchmarksPage(): ReactNode {
  const names = usePageQuery({ query: NodeNamesDocument, variables: {} });
  const latest = usePageQuery({ query: LatestBenchmarksDocument, variables: {} });
  const nodes = names.data?.gpuNodes;
  const columns = useMemo(() => withNode(new Map(nodes?.map(({ id, name }) => [id, name]))), [nodes]);
  const isEmpty = latest.data?.latestBenchmarks?.length === 0;
  return (
    <>
      <PageHead
        title="Benchmarks"
        lead="Speed of models on nodes, measured through the gateway. Results outlive their nodes."
      />
      {latest.error && <LoadError error={latest.error} onRetry={latest.refresh} />}
      {isEmpty ? (
        <Empty>
          No runs yet. To measure a model and submit the result, run{' '}
          <code className={classes.address}>{COMMAND}</code>
        </Empty>
      ) : (
        <>
          <Section title="Latest of each node and model">
            <DataTable
              label="Latest benchmarks"
              columns={columns}
              rows={latest.data?.latestBenchmarks ?? undefined}
              keyOf={({ id }) => id}
              empty=""
            />
          </Section>
          <History columns={columns} nodes={nodes ?? []} models={names.data?.models ?? []} />
        </>
      )}
    </>
  );
}

function withNode(names: ReadonlyMap<string, string>): readonly Column<BenchmarkRowFragment>[] {
  const [model, ...figures] = benchmarkColumns;
  const nameOf = ({ nodeId }: BenchmarkRowFragment): string => names.get(nodeId) ?? 'deleted node';
  return [
    {
      id: 'node',
      head: 'Node',
      whole: nameOf,
      phone: 1,
      cell: (run) =>
        names.has(run.nodeId) ? (
          <Link to={paths.node} params={{ nodeId: run.nodeId }} search={{ tab: 'benchmarks' }}>
            {nameOf(run)}
          </Link>
        ) : (
          nameOf(run)
        ),
    },
    { ...model!, phone: 11 },
    ...figures,
  ];
}

interface HistoryProps {
  columns: readonly Column<BenchmarkRowFragment>[];
  nodes: readonly { id: string; name: string }[];
  models: readonly { modelPublicName: string }[];
}

function History({ columns, nodes, models }: HistoryProps) {
  const search = useSearch({ from: '/signed-in/administrators/admin/benchmarks' });
  const { node, model, page = 1 } = search;
  const navigate = useNavigate({ from: paths.benchmarks });
  const { data, error, awaiting, refresh } = usePageQuery({
    query: BenchmarksDocument,
    // One more than is shown tells whether there is another page.
    variables: { nodeId: node ?? null, model: model ?? null, limit: PAGE + 1, offset: (page - 1) * PAGE },
  });
  const found = data?.benchmarks ?? undefined;
  const narrow = (change: BenchmarksSearch): void =>
    void navigate({
      search: ({ page: _page, ...before }) => benchmarksSearch({ ...before, ...change }),
      replace: true,
      resetScroll: false,
    });
  return (
    <Section title="History">
      <div className={classes.tools}>
        <NativeSelect
          aria-label="Node"
          data={[
            { value: '', label: 'Any node' },
            ...nodes.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={node ?? ''}
          onChange={({ currentTarget }) => narrow({ node: currentTarget.value })}
        />
        <NativeSelect
          aria-label="Model"
          data={[
            { value: '', label: 'Any model' },
            ...models.map(({ modelPublicName: name }) => ({ value: name, label: name })),
          ]}
          value={model ?? ''}
          onChange={({ currentTarget }) => narrow({ model: currentTarget.value })}
        />
      </div>
      {error && <LoadError error={error} onRetry={refresh} />}
      {node && model && found && found.length > 1 && <Trend runs={found} />}
      <DataTable
        label="Benchmark history"
        columns={columns}
        rows={found?.slice(0, PAGE)}
        keyOf={({ id }) => id}
        awaiting={awaiting}
        empty="No runs match."
      />
      <Pager
        newer={
          page > 1 && (
            <Link to={paths.benchmarks} search={benchmarksSearch({ ...search, page: page - 1 })}>
              Newer
            </Link>
          )
        }
        older={
          found &&
          found.length > PAGE && (
            <Link to={paths.benchmarks} search={{ ...search, page: page + 1 }}>
              Older
            </Link>
          )
        }
      />
    </Section>
  );
}

/** Speed over the listed runs of one model on one node; the table below has every figure. */
function Trend({ runs }: { runs: readonly BenchmarkRowFragment[] }) {
  const readings = runs
    .toReversed()
    .map(({ tokensPerSecond }, index) => ({ atMs: index, value: tokensPerSecond }));
  return (
    <figure className={classes.chart}>
      <figcaption>
        <span>Tokens per second, run by run</span>
        <span className={classes.now}>{decimal(readings.at(-1)!.value)}</span>
      </figcaption>
      <LineChart
        label="Tokens per second, run by run"
        readings={readings}
        fromMs={0}
        toMs={readings.length - 1}
        format={decimal}
      />
    </figure>
  );
}
