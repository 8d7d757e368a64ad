import { Link } from '@tanstack/react-router';
import { ChargesOfDayDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { DataTable } from '../../ui/data-table';
import { LoadError } from '../../ui/load-error';
import { usageColumns } from '../usage/usage-columns';

const SHOWN = usageColumns.filter(({ id }) => id !== 'status' && id !== 'latency');
const REFRESH_MS = 1_000;

/** The calls that were charged on a UTC day, newest first. */
export function ChargesOfDay({ date }: { date: string }) {
  const { data, error, refresh } = usePageQuery({
    query: ChargesOfDayDocument,
    variables: { filter: { day: date, status: 'SUCCESS' } },
  });
  useRefreshOnUsage(refresh, REFRESH_MS);
  const page = data?.viewer?.usageEvents;
  if (error && !page) return <LoadError error={error} onRetry={refresh} />;
  return (
    <>
      <DataTable
        label={`Charges of ${date}`}
        columns={SHOWN}
        rows={page?.nodes}
        keyOf={({ id }) => id}
        empty="The calls of this day are no longer kept; their charges are in the CSV."
      />
      {page?.pageInfo.hasNextPage && (
        <p>
          <Link to={paths.usage} search={{ day: date, status: 'success' }}>
            All calls of this day
          </Link>
        </p>
      )}
    </>
  );
}
