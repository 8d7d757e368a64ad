import { Button } from '@mantine/core';
import type { ReactNode, RefObject } from 'react';
import { type BenchmarkRowFragment, CompareBenchmarksDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { DataTable } from '../../ui/data-table';
import { Fact, Facts } from '../../ui/facts';
import { counted, formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { Note } from '../../ui/note';
import { Section } from '../../ui/section';
import { type Compared, type Comparison, comparisonColumns, MEASURES } from './comparison-columns';
import { NodeName, type NodeNames } from './node-name';
import classes from './nodes.module.css';
import type { ChosenRuns } from './nodes-search';

interface CompareRunsProps {
  chosen: ChosenRuns;
  names: NodeNames;
  onChange(chosen: ChosenRuns): void;
  /** Gets the focus when both runs are chosen, since the tables to choose from are below. */
  place: RefObject<HTMLDivElement | null>;
}

/** Compares two runs, or explains how to choose them. */
export function CompareRuns({ chosen, names, onChange, place }: CompareRunsProps) {
  const { base, other, ...model } = chosen;
  return (
    <div ref={place} tabIndex={-1} className={classes.comparison}>
      <Section
        title="Comparison"
        tools={
          base !== undefined && (
            <div className={classes.tools}>
              {other !== undefined && (
                <Button variant="default" onClick={() => onChange({ ...model, base: other, other: base })}>
                  Swap
                </Button>
              )}
              <Button variant="default" onClick={() => onChange({})}>
                Clear
              </Button>
            </div>
          )
        }
      >
        {base !== undefined && other !== undefined ? (
          <Result base={base} other={other} names={names} />
        ) : (
          <p className={classes.hint}>
            {base === undefined
              ? 'Choose two runs of one model with Compare, and see whether one does better.'
              : `The base is chosen. Choose another run${model.of === undefined ? '' : ` of ${model.of}`} with Compare.`}
          </p>
        )}
      </Section>
    </div>
  );
}

interface ResultProps {
  base: string;
  other: string;
  names: NodeNames;
}

function Result({ base, other, names }: ResultProps): ReactNode {
  const { data, error, awaiting, refresh } = usePageQuery({
    query: CompareBenchmarksDocument,
    variables: { base, other },
  });
  if (error?.code === 'not_found') {
    return (
      <Note tone="warn">One of the runs doesn’t exist: the URL is wrong. Clear it and choose again.</Note>
    );
  }
  const found = data?.benchmarkComparison;
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      {(found || !error) && (
        <Facts>
          <Fact name="Base">{found && <Run run={found.base} names={names} />}</Fact>
          <Fact name="Other">{found && <Run run={found.other} names={names} />}</Fact>
        </Facts>
      )}
      {found && found.differences.length > 0 && (
        <Note tone="warn">
          The runs differ in {found.differences.map((setting) => SETTINGS[setting]).join(' and ')}, which may
          be the reason for what the measures show.
        </Note>
      )}
      {(found || !error) && (
        <DataTable
          label="Comparison of two runs"
          columns={comparisonColumns}
          rows={found?.measures}
          keyOf={({ measure }) => measure}
          awaiting={awaiting}
          empty=""
        />
      )}
      {found && <Explained measures={found.measures} />}
    </>
  );
}

const SETTINGS: Record<Comparison['differences'][number], string> = {
  MODEL_PUBLIC_NAME: 'model',
  CONCURRENCY: 'parallel requests',
  SLO: 'objective',
};

function Run({ run, names }: { run: BenchmarkRowFragment; names: NodeNames }) {
  const { nodeId, modelPublicName, totalRequests, concurrency, slo, createdAt } = run;
  return (
    <>
      <NodeName id={nodeId} names={names} />, <Moment at={createdAt} />:{' '}
      <span className={classes.address}>{modelPublicName}</span>, {counted(totalRequests, 'request')},{' '}
      {formatCount(concurrency)} parallel
      {slo != null && `, objective ${slo}`}
    </>
  );
}

/** Explains the verdicts, and lists measures without one. */
function Explained({ measures }: { measures: readonly Compared[] }) {
  const compared = new Set(measures.map(({ measure }) => measure));
  const left = Object.entries(MEASURES).filter(([measure]) => !compared.has(measure as Compared['measure']));
  return (
    <p className={classes.hint}>
      Better and worse describe the other run, and appear only if the two 95% intervals are apart. Runs with
      too few requests have no intervals: their differences are inconclusive.
      {left.length > 0 &&
        ` Not measured in both runs: ${left.map(([, { short }]) => short).join(', ')}. gateway-bench measures tokens one by one with --stream, and goodput with --slo.`}
    </p>
  );
}
