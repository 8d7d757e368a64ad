import { type ReactNode, useMemo } from 'react';
import { RoutingDocument, type RoutingQuery } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { type Column, DataTable } from '../../ui/data-table';
import { formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { moneyText } from '../../ui/money-text';
import { Note } from '../../ui/note';
import { PageHead } from '../../ui/page-head';
import { StatusWord } from '../../ui/status-word';
import { useTicking } from '../../ui/use-ticking';
import classes from './admin.module.css';
import { usePolled } from './use-polled';

const REFRESH_MS = 3_000;
const MS = 1_000;

type Group = NonNullable<RoutingQuery['routing']>[number];
type Row = Group['deployments'][number] & {
  group: Group;
  isFirst: boolean;
  charged: string;
  /** When the deployment takes calls again, by the browser's clock, which may differ from the server's; null if it isn't parked. */
  parkedUntilMs: number | null;
};

const columns: readonly Column<Row>[] = [
  {
    id: 'model',
    head: 'Model',
    phone: 1,
    cell: ({ group, isFirst }) => (
      <span className={isFirst ? classes.name : classes.again}>{group.modelPublicName}</span>
    ),
  },
  { id: 'id', head: 'Deployment', phone: 11, cell: ({ id }) => <span className={classes.name}>{id}</span> },
  { id: 'state', head: 'State', phone: 2, cell: (row) => <StateOfDeployment row={row} /> },
  {
    id: 'failures',
    head: 'Failures',
    figure: true,
    cell: ({ consecutiveFailures: failures, lastFailure }) =>
      failures == null ? '–' : `${formatCount(failures)}${lastFailure ? ` (${lastFailure})` : ''}`,
  },
  {
    id: 'flight',
    head: 'In flight',
    figure: true,
    phone: 13,
    cell: ({ callsInFlight: calls }) => (calls == null ? '–' : formatCount(calls)),
  },
  { id: 'price', head: 'Price per million', labelled: true, phone: 12, cell: (row) => <Price row={row} /> },
  {
    id: 'fallbacks',
    head: 'Fallbacks',
    cell: ({ group, isFirst }) =>
      isFirst && group.fallbacks.length > 0 ? (
        <span className={classes.name}>{group.fallbacks.join(', ')}</span>
      ) : (
        ''
      ),
  },
];

/** `/admin/routing` */
export function RoutingPage(): ReactNode {
  const { data, error, refresh } = usePageQuery({ query: RoutingDocument, variables: {} });
  usePolled(refresh, REFRESH_MS);
  // Computed once per answer, at its time.
  const rows = useMemo(() => data && rowsOf(data, Date.now()), [data]);
  const wrong = rows?.filter(({ priceMatches }) => priceMatches === false) ?? [];
  return (
    <>
      <PageHead
        title="Routing"
        lead="Where calls go. To change it, edit the routing file: it is read again as soon as you save it."
      />
      {error && <LoadError error={error} onRetry={refresh} />}
      {wrong.length > 0 && (
        <div className={classes.note}>
          <Note tone="bad">
            Prices of the routing file differ from those that calls are charged with:{' '}
            {wrong.map(({ id, charged }) => `${id} (charged ${charged})`).join(', ')}.
          </Note>
        </div>
      )}
      {(rows || !error) && (
        <DataTable
          label="Deployments"
          columns={columns}
          rows={rows}
          keyOf={({ group, id }) => `${group.modelPublicName} ${id}`}
          empty="The routing file has no deployments: every call fails with 503."
        />
      )}
    </>
  );
}

function rowsOf({ routing, models }: RoutingQuery, now: number): Row[] | undefined {
  const charged = new Map(
    models?.map((model) => [
      model.modelPublicName,
      pair(model.inputPricePerMillionUsd, model.outputPricePerMillionUsd),
    ]),
  );
  return routing?.flatMap((group) =>
    group.deployments.map((deployment, index) => ({
      ...deployment,
      group,
      isFirst: index === 0,
      charged: charged.get(group.modelPublicName) ?? 'nothing: the model is unknown',
      parkedUntilMs: deployment.parkedForSeconds == null ? null : now + deployment.parkedForSeconds * MS,
    })),
  );
}

const pair = (input: string | null | undefined, output: string | null | undefined): string =>
  `${input == null ? '–' : moneyText(input)} in, ${output == null ? '–' : moneyText(output)} out`;

function StateOfDeployment({ row: { status, takesCalls, parkedUntilMs } }: { row: Row }) {
  const left = useTicking((now) =>
    parkedUntilMs === null ? null : Math.max(0, Math.ceil((parkedUntilMs - now) / MS)),
  );
  if (status === 'PARKED') {
    return <StatusWord tone="bad">{left === null ? 'parked' : `parked, ${left} s left`}</StatusWord>;
  }
  if (takesCalls === 'NO') return <StatusWord tone="warn">closed</StatusWord>;
  if (takesCalls === 'IF_NO_OTHER_CAN') return <StatusWord tone="warn">avoided</StatusWord>;
  if (status == null) return <StatusWord tone="idle">not reported</StatusWord>;
  return <StatusWord tone="good">serving</StatusWord>;
}

function Price({ row }: { row: Row }) {
  const { inputPricePerMillionUsd: input, outputPricePerMillionUsd: output, priceMatches } = row;
  return (
    <>
      <span className={classes.name}>{pair(input, output)}</span>{' '}
      {priceMatches === false && <StatusWord tone="bad">differs</StatusWord>}
    </>
  );
}
