import { NativeSelect } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type BenchmarkRowFragment, BenchmarksDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { LineChart } from '../../ui/line-chart';
import { LoadError } from '../../ui/load-error';
import { Pager } from '../../ui/pager';
import { Section } from '../../ui/section';
import { withChosen } from '../../ui/with-chosen';
import { decimal } from './node-facts';
import { type NodeNames, nodeName } from './node-name';
import classes from './nodes.module.css';
import { type BenchmarksSearch, benchmarksSearch } from './nodes-search';

const PAGE = 50;

interface HistoryProps {
  columns: readonly Column<BenchmarkRowFragment>[];
  nodes: readonly { id: string; name: string }[];
  names: NodeNames;
  models: readonly { modelPublicName: string }[];
}

/** All runs, page by page, filtered by node and model. */
export function BenchmarkHistory({ columns, nodes, names, models }: HistoryProps) {
  const search = useSearch({ from: '/signed-in/administrators/admin/benchmarks' });
  const { node, model, page = 1 } = search;
  const navigate = useNavigate({ from: paths.benchmarks });
  const { data, error, awaiting, refresh } = usePageQuery({
    query: BenchmarksDocument,
    // One more than is shown: is there another page?
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
          data={withChosen(
            [{ value: '', label: 'Any node' }, ...nodes.map(({ id, name }) => ({ value: id, label: name }))],
            node,
            node && nodeName(names, node),
          )}
          value={node ?? ''}
          onChange={({ currentTarget }) => narrow({ node: currentTarget.value })}
        />
        <NativeSelect
          aria-label="Model"
          data={withChosen(
            [
              { value: '', label: 'Any model' },
              ...models.map(({ modelPublicName: name }) => ({ value: name, label: name })),
            ],
            model,
          )}
          value={model ?? ''}
          onChange={({ currentTarget }) => narrow({ model: currentTarget.value })}
        />
      </div>
      {error && <LoadError error={error} onRetry={refresh} />}
      {node && model && found && found.length > 1 && <Trend runs={found} />}
      {(found || !error) && (
        <DataTable
          label="Benchmark history"
          columns={columns}
          rows={found?.slice(0, PAGE)}
          keyOf={({ id }) => id}
          awaiting={awaiting}
          empty="No runs match."
        />
      )}
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

/** A chart of speed over the listed runs of one model on one node; the table below has all figures. */
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
