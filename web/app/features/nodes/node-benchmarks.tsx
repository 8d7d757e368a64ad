import { Link } from '@tanstack/react-router';
import { type BenchmarkRowFragment, NodeBenchmarksDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { LoadError } from '../../ui/load-error';
import { Unseen } from '../../ui/unseen';
import { benchmarkColumns } from './benchmark-columns';
import classes from './nodes.module.css';

const columns: readonly Column<BenchmarkRowFragment>[] = [
  ...benchmarkColumns,
  {
    id: 'compare',
    head: 'Compare',
    actions: true,
    phone: 13,
    cell: ({ id, modelPublicName }) => (
      <Link to={paths.benchmarks} search={{ base: id, of: modelPublicName, model: modelPublicName }}>
        Compare<Unseen> {modelPublicName} with another run</Unseen>
      </Link>
    ),
  },
];

/** Runs on one node, newest first. */
export function NodeBenchmarks({ nodeId }: { nodeId: string }) {
  const { data, error, refresh } = usePageQuery({ query: NodeBenchmarksDocument, variables: { id: nodeId } });
  return (
    <div className={classes.part}>
      <h2>Benchmarks</h2>
      {error && <LoadError error={error} onRetry={refresh} />}
      {(data || !error) && (
        <DataTable
          label="Benchmarks of the node"
          columns={columns}
          rows={data?.benchmarks ?? undefined}
          keyOf={({ id }) => id}
          empty={
            <Empty>
              No runs yet. <span className={classes.address}>gateway-bench</span> with{' '}
              <span className={classes.address}>--node {nodeId}</span> submits one.
            </Empty>
          }
        />
      )}
    </div>
  );
}
