import { Button } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo, useRef } from 'react';
import {
  type BenchmarkRowFragment,
  LatestBenchmarksDocument,
  NodeNamesDocument,
} from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Section } from '../../ui/section';
import { Unseen } from '../../ui/unseen';
import { benchmarkColumns } from './benchmark-columns';
import { BenchmarkHistory } from './benchmark-history';
import { isOfAnother, placeOf, toggled } from './chosen-runs.rules';
import { CompareRuns } from './compare-runs';
import { NodeName, type NodeNames, nodeName, nodeNames } from './node-name';
import classes from './nodes.module.css';
import { benchmarksSearch, type ChosenRuns } from './nodes-search';

const COMMAND =
  'npm run gateway-bench -- --url URL --key-file key --model gateway/fast --node ID --secret-file FILE';

/** `/admin/benchmarks` */
export function BenchmarksPage(): ReactNode {
  const nodes = usePageQuery({ query: NodeNamesDocument, variables: {} });
  const latest = usePageQuery({ query: LatestBenchmarksDocument, variables: {} });
  const error = latest.error ?? nodes.error;
  const again = (): void => {
    nodes.refresh();
    latest.refresh();
  };
  const known = nodes.data?.gpuNodes;
  const names = useMemo(() => nodeNames(known), [known]);
  const { chosen, choose, toggle, place } = useChosenRuns();
  const columns = [...withNode(names), compareColumn(chosen, names, toggle)];
  const isEmpty = latest.data?.latestBenchmarks?.length === 0;
  return (
    <>
      <PageHead
        title="Benchmarks"
        lead="Speed of models on nodes, measured through the gateway. Results outlive their nodes."
      />
      {error && <LoadError error={error} onRetry={again} />}
      {isEmpty ? (
        <Empty>
          No runs yet. To measure a model and submit the result, run{' '}
          <code className={classes.address}>{COMMAND}</code>
        </Empty>
      ) : (
        <>
          <CompareRuns chosen={chosen} names={names} onChange={choose} place={place} />
          <Section title="Latest of each node and model">
            {(latest.data || !latest.error) && (
              <DataTable
                label="Latest benchmarks"
                columns={columns}
                rows={latest.data?.latestBenchmarks ?? undefined}
                keyOf={({ id }) => id}
                empty=""
              />
            )}
          </Section>
          <BenchmarkHistory
            columns={columns}
            nodes={known ?? []}
            names={names}
            models={nodes.data?.models ?? []}
          />
        </>
      )}
    </>
  );
}

/** The runs to compare, which the address keeps, and a function that chooses them. */
function useChosenRuns() {
  const { base, other, of } = useSearch({ from: '/signed-in/administrators/admin/benchmarks' });
  const navigate = useNavigate({ from: paths.benchmarks });
  const place = useRef<HTMLDivElement>(null);
  const chosen = { ...(base && { base }), ...(other && { other }), ...(of && { of }) };
  const choose = (next: ChosenRuns): Promise<void> =>
    navigate({
      search: ({ base: _base, other: _other, of: _of, ...before }) =>
        benchmarksSearch({ ...before, ...next }),
      replace: true,
      resetScroll: false,
    });
  const toggle = async (run: BenchmarkRowFragment): Promise<void> => {
    const next = toggled(chosen, run);
    await choose(next);
    if (next.other !== undefined) place.current?.focus();
  };
  return {
    chosen,
    choose: (next: ChosenRuns) => void choose(next),
    toggle: (run: BenchmarkRowFragment) => void toggle(run),
    place,
  };
}

function withNode(names: NodeNames): readonly Column<BenchmarkRowFragment>[] {
  const [model, ...figures] = benchmarkColumns;
  return [
    {
      id: 'node',
      head: 'Node',
      whole: ({ nodeId }) => nodeName(names, nodeId),
      phone: 1,
      cell: ({ nodeId }) => <NodeName id={nodeId} names={names} />,
    },
    { ...model!, phone: 11 },
    ...figures,
  ];
}

const PLACES = { base: 'Base', other: 'Other' } as const;

/** Chooses runs for the comparison. */
const compareColumn = (
  chosen: ChosenRuns,
  names: NodeNames,
  onToggle: (run: BenchmarkRowFragment) => void,
): Column<BenchmarkRowFragment> => ({
  id: 'compare',
  head: 'Compare',
  actions: true,
  phone: 13,
  cell: (run) => {
    const place = placeOf(run, chosen);
    const apart = isOfAnother(run, chosen);
    return (
      <Button
        size="xs"
        variant={place ? 'light' : 'default'}
        aria-pressed={place !== undefined}
        disabled={apart}
        {...(apart && { title: `Only runs of ${chosen.of} can be compared with the base.` })}
        onClick={() => onToggle(run)}
      >
        {place ? PLACES[place] : 'Compare'}
        <Unseen>
          {' '}
          {nodeName(names, run.nodeId)}, {run.modelPublicName}
        </Unseen>
      </Button>
    );
  },
});
