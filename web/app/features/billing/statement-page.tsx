import { Button } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { StatementDocument, type StatementQuery } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { DownloadButton } from '../../ui/download-button';
import { formatCount, formatDay } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Money } from '../../ui/money';
import { PageHead } from '../../ui/page-head';
import { Section } from '../../ui/section';
import { Tile, Tiles } from '../../ui/tiles';
import classes from './billing.module.css';
import { MONTH, monthAfter, monthName, monthOf } from './billing-search';

type Statement = NonNullable<NonNullable<StatementQuery['viewer']>['statement']>;
type Day = Statement['byDay'][number];
type Model = Statement['byModel'][number];
type Key = Statement['byKey'][number];

const calls = {
  id: 'calls',
  head: 'Calls',
  figure: true,
  cell: (row: { calls: number }) => formatCount(row.calls),
};
const charges = { id: 'charges', head: 'Charges', usd: (row: { chargesUsd: string }) => row.chargesUsd };

const DAYS: readonly Column<Day>[] = [
  { id: 'date', head: 'Day, UTC', cell: ({ date }) => formatDay(date) },
  { id: 'credits', head: 'Credits', usd: ({ creditsUsd }) => (Number(creditsUsd) === 0 ? null : creditsUsd) },
  calls,
  charges,
];
const MODELS: readonly Column<Model>[] = [
  { id: 'model', head: 'Model', cell: ({ modelPublicName }) => modelPublicName, phone: 11 },
  { id: 'input', head: 'Input tokens', figure: true, cell: ({ inputTokens }) => formatCount(inputTokens) },
  {
    id: 'output',
    head: 'Output tokens',
    figure: true,
    cell: ({ outputTokens }) => formatCount(outputTokens),
  },
  { ...calls, phone: 2 },
  { ...charges, phone: 1 },
];
const KEYS: readonly Column<Key>[] = [
  { id: 'key', head: 'API key', cell: ({ keyId, name }) => name ?? (keyId ? keyId : 'Calls without a key') },
  calls,
  charges,
];

const REFRESH_MS = 1_000;

/** `/dashboard/billing/statements/{month}`: a month to print or to hand in. */
export function StatementPage(): ReactNode {
  const { month } = useParams({ from: '/signed-in/dashboard/billing/statements/$month' });
  const present = monthOf(Date.now());
  const isMonth = MONTH.test(month);
  const { data, error, awaiting, refresh } = usePageQuery({
    query: StatementDocument,
    variables: { month: isMonth ? month : present },
    touches: ['LedgerEntry', 'TopUpPayload'],
  });
  useRefreshOnUsage(() => month === present && refresh(), REFRESH_MS);
  const statement = awaiting ? undefined : (data?.viewer?.statement ?? undefined);
  const viewer = data?.viewer;
  const missing = !isMonth || error?.code === 'not_found';
  return (
    <>
      <Link to={paths.billing} className={classes.back}>
        ← Billing
      </Link>
      {missing ? (
        <PageHead
          title="No statement for this month"
          lead="The month has not begun, is too long ago, or the address was mistyped."
        />
      ) : (
        <>
          <PageHead
            title={`Statement, ${monthName(month)}`}
            lead={`${viewer ? `${viewer.name} <${viewer.email}>. ` : ''}Days are in UTC.${month === present ? ' The month is not over yet.' : ''}`}
            tools={<StatementTools month={month} present={present} />}
          />
          {error && <LoadError error={error} onRetry={refresh} />}
          {(statement || !error) && <Sums statement={statement} isOver={month < present} />}
          {(statement || !error) && <Parts statement={statement} month={month} />}
        </>
      )}
    </>
  );
}

function StatementTools({ month, present }: { month: string; present: string }) {
  const to = (other: string) => ({ to: paths.statement, params: { month: other } });
  return (
    <div className={classes.statementTools}>
      <Link {...to(monthAfter(month, -1))}>{monthName(monthAfter(month, -1))}</Link>
      {month < present && <Link {...to(monthAfter(month, 1))}>{monthName(monthAfter(month, 1))}</Link>}
      <Button variant="default" onClick={() => window.print()}>
        Print
      </Button>
      <DownloadButton href={`/api/billing/statements/${month}.csv`} download={`statement-${month}.csv`}>
        Download CSV
      </DownloadButton>
    </div>
  );
}

function Sums({ statement, isOver }: { statement: Statement | undefined; isOver: boolean }) {
  const amount = (usd: string | undefined) => usd !== undefined && <Money usd={usd} />;
  return (
    <Tiles>
      <Tile label="Opening balance">{amount(statement?.openingBalanceUsd) || undefined}</Tile>
      <Tile label="Credits">{amount(statement?.creditsUsd) || undefined}</Tile>
      <Tile label="Charges">{amount(statement?.chargesUsd) || undefined}</Tile>
      <Tile label={isOver ? 'Closing balance' : 'Balance so far'}>
        {amount(statement?.closingBalanceUsd) || undefined}
      </Tile>
    </Tiles>
  );
}

function Parts({ statement, month }: { statement: Statement | undefined; month: string }) {
  const empty = `No credits or charges in ${monthName(month)}.`;
  return (
    <>
      <Section title="By day">
        <DataTable
          label="Credits and charges by day"
          columns={DAYS}
          rows={statement?.byDay}
          keyOf={({ date }) => date}
          empty={empty}
        />
      </Section>
      <Section title="By model">
        <DataTable
          label="Charges by model"
          columns={MODELS}
          rows={statement?.byModel}
          keyOf={({ modelPublicName }) => modelPublicName}
          empty="No charged calls."
        />
      </Section>
      <Section title="By API key">
        <DataTable
          label="Charges by API key"
          columns={KEYS}
          rows={statement?.byKey}
          keyOf={({ keyId }) => keyId ?? ''}
          empty="No charged calls."
        />
      </Section>
    </>
  );
}
