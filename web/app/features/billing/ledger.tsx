import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { LedgerMonthDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { Choice } from '../../ui/choice';
import { type Column, DataTable } from '../../ui/data-table';
import { DownloadButton } from '../../ui/download-button';
import { counted, formatCount, formatDay } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { Pager } from '../../ui/pager';
import classes from './billing.module.css';
import { type BillingSearch, monthAfter, monthName, monthOf } from './billing-search';
import { ChargesOfDay } from './charges-of-day';
import { type ChargedDay, type LedgerCredit, type LedgerLine, ledgerLines } from './ledger-lines';

const KINDS = {
  STARTER: 'Starter credit',
  TOPUP: 'Top-up',
  GRANT: 'Included credits',
  USAGE: 'Call',
  ADJUSTMENT: 'Adjustment',
} as const;

const SHOWN = [
  { value: 'all', label: 'All' },
  { value: 'credits', label: 'Credits' },
  { value: 'charges', label: 'Charges' },
] as const;

/** Kind and description of a credit. */
const about = ({ kind, description }: LedgerCredit): string =>
  !description || description.startsWith(KINDS[kind])
    ? (description ?? KINDS[kind])
    : `${KINDS[kind]}: ${description}`;

const calls = ({ calls }: ChargedDay): string => counted(calls, 'call');

function columnsOf(opened: string | undefined, open: (date: string) => void): readonly Column<LedgerLine>[] {
  const what = ({ credit, day }: LedgerLine) =>
    credit ? (
      about(credit)
    ) : (
      <button
        type="button"
        className={classes.day}
        aria-expanded={opened === day.date}
        onClick={() => open(day.date)}
      >
        <span aria-hidden="true">{opened === day.date ? '▾' : '▸'}</span> {calls(day)}
      </button>
    );
  return [
    { id: 'what', head: 'What', cell: what, phone: 11 },
    {
      id: 'amount',
      head: 'Amount',
      usd: ({ credit, day }) => (credit ?? day).amountUsd,
      signed: true,
      phone: 1,
    },
    { id: 'balance', head: 'Balance after', usd: ({ credit }) => credit?.balanceAfterUsd ?? null },
    {
      id: 'time',
      head: 'Time, or UTC day',
      cell: ({ credit, day }) => (credit ? <Moment at={credit.createdAt} /> : `${formatDay(day.date)}, UTC`),
      phone: 2,
    },
  ];
}

const REFRESH_MS = 1_000;

/** The ledger of a UTC month, newest first. The charges of a day are one line, which can be opened. */
export function Ledger() {
  const { month: asked, show } = useSearch({ from: '/signed-in/dashboard/billing' });
  const navigate = useNavigate({ from: paths.billing });
  const [opened, setOpened] = useState<string>();
  const present = monthOf(Date.now());
  const month = asked ?? present;
  const { data, error, awaiting, refresh } = usePageQuery({
    query: LedgerMonthDocument,
    variables: { month },
    touches: ['LedgerEntry', 'TopUpPayload'],
  });
  useRefreshOnUsage(() => month === present && refresh(), REFRESH_MS);
  const page = data?.viewer?.ledgerMonth;
  const to = (changes: BillingSearch) => ({
    to: paths.billing,
    search: { ...(show && { show }), ...changes },
    resetScroll: false,
  });
  const open = (date: string): void => setOpened(opened === date ? undefined : date);
  return (
    <>
      <div className={classes.ledger}>
        <Choice
          label="Ledger entries"
          options={SHOWN}
          value={show ?? 'all'}
          onChange={(value) =>
            void navigate({
              search: { ...(asked && { month: asked }), ...(value !== 'all' && { show: value }) },
              resetScroll: false,
              replace: true,
            })
          }
        />
        <h3 className={classes.month}>{monthName(month)}, UTC</h3>
        <Link to={paths.statement} params={{ month }} className={classes.toStatement}>
          Statement
        </Link>
        <DownloadButton href={`/api/billing/ledger.csv?kind=${show ?? 'all'}`} download="ledger.csv">
          Export CSV, all months
        </DownloadButton>
      </div>
      {error && <LoadError error={error} onRetry={refresh} />}
      <div className={classes.entries}>
        {(page || !error) && (
          <DataTable
            label="Entries of the month"
            columns={columnsOf(opened, open)}
            rows={page && ledgerLines(page, show)}
            keyOf={({ id }) => id}
            awaiting={awaiting}
            onOpen={({ day }) => day && open(day.date)}
            detail={({ day }) => day && day.date === opened && <ChargesOfDay date={day.date} />}
            empty={`No entries in ${monthName(month)}.`}
          />
        )}
        {page?.creditsTruncated && show !== 'charges' && (
          <p className={classes.hint}>
            Only the newest {formatCount(page.credits.length)} credits of the month are shown. The CSV has
            all.
          </p>
        )}
      </div>
      <Pager
        newer={
          month < present && (
            <Link {...to(monthAfter(month, 1) < present ? { month: monthAfter(month, 1) } : {})}>Newer</Link>
          )
        }
        older={page?.hasOlder && <Link {...to({ month: monthAfter(month, -1) })}>Older</Link>}
      />
    </>
  );
}
