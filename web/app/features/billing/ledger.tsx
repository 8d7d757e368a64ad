import { Link, useSearch } from '@tanstack/react-router';
import { LedgerDocument, type LedgerQuery } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { Money } from '../../ui/money';
import { Pager } from '../../ui/pager';

type Entry = NonNullable<LedgerQuery['viewer']>['ledgerEntries']['nodes'][number];

const KINDS = {
  STARTER: 'Starter credit',
  TOPUP: 'Top-up',
  GRANT: 'Included credits',
  USAGE: 'Call',
  ADJUSTMENT: 'Correction',
} as const;

/** What an entry is about, with what its kind doesn't say. */
function about({ kind, description, usageEvent }: Entry): string {
  const detail = kind === 'USAGE' ? usageEvent?.modelPublicName : description;
  return detail && detail !== KINDS[kind] ? `${KINDS[kind]}: ${detail}` : KINDS[kind];
}

const COLUMNS: readonly Column<Entry>[] = [
  { id: 'what', head: 'What', cell: about },
  { id: 'amount', head: 'Amount', figure: true, cell: ({ amountUsd }) => <Money usd={amountUsd} signed /> },
  {
    id: 'balance',
    head: 'Balance after',
    figure: true,
    cell: (entry) => <Money usd={entry.balanceAfterUsd} />,
  },
  { id: 'time', head: 'Time', cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const REFRESH_MS = 1_000;

/** Every movement of the account's money, newest first. */
export function Ledger() {
  const { after } = useSearch({ from: '/signed-in/dashboard/billing' });
  const { data, error, refresh } = usePageQuery({
    query: LedgerDocument,
    variables: { after: after ?? null },
    touches: ['LedgerEntry', 'TopUpPayload'],
  });
  useRefreshOnUsage(() => after === undefined && refresh(), REFRESH_MS);
  const page = data?.viewer?.ledgerEntries;
  return (
    <>
      {error && <LoadError error={error} onRetry={refresh} />}
      {(page || !error) && (
        <DataTable
          label="Ledger"
          columns={COLUMNS}
          rows={page?.nodes}
          keyOf={({ id }) => id}
          empty="Credit that is added and calls that are charged will stand here."
        />
      )}
      <Pager
        first={
          after !== undefined && (
            <Link to={paths.billing} search={{}} resetScroll={false}>
              Newest
            </Link>
          )
        }
        next={
          page?.pageInfo.hasNextPage && (
            <Link to={paths.billing} search={{ after: page.pageInfo.endCursor! }} resetScroll={false}>
              Older entries
            </Link>
          )
        }
      />
    </>
  );
}
