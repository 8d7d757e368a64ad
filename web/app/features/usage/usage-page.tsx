import { Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRef } from 'react';
import { UsageLogDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Pager } from '../../ui/pager';
import { useHeldScroll } from '../../ui/use-held-scroll';
import classes from './usage.module.css';
import { usageColumns } from './usage-columns';
import { UsageFilters } from './usage-filters';
import { belongs, filterOf, type UsageSearch } from './usage-search';
import { useLiveRows } from './use-live-rows';

/** `/dashboard/usage` */
export function UsagePage(): ReactNode {
  const search = useSearch({ from: '/signed-in/dashboard/usage' });
  const navigate = useNavigate({ from: paths.usage });
  const list = useRef<HTMLDivElement>(null);
  const { data, error, refresh } = usePageQuery({
    query: UsageLogDocument,
    variables: { filter: filterOf(search), after: search.after ?? null },
    touches: ['UsageEvent', 'ApiKey'],
  });
  const page = data?.viewer?.usageEvents;
  const { rows, fresh, held, release } = useLiveRows(
    page?.nodes,
    JSON.stringify(search),
    // Only the first page has the newest.
    (event) => search.after === undefined && belongs(event, search),
    { hold: true },
  );
  const showHeld = (): void => {
    release();
    refresh();
    window.scrollTo({ top: 0 });
  };
  useHeldScroll(list, rows && `${rows.length} ${rows[0]?.id}`);
  const change = (changes: Partial<Record<keyof UsageSearch, unknown>>): void =>
    void navigate({
      search: ({ after: _after, ...before }) => ({ ...before, ...changes }) as UsageSearch,
      replace: true,
    });
  return (
    <>
      <PageHead
        title="Usage"
        lead="One line per call that was forwarded to a model, as it ends. Prompts and answers are never stored here."
      />
      <UsageFilters search={search} onChange={change} />
      {error && <LoadError error={error} onRetry={refresh} />}
      <div role="status" className={classes.held}>
        {held > 0 && (
          <Button size="xs" variant="default" onClick={showHeld}>
            {held === 1 ? '1 new call' : `${formatCount(held)} new calls`}
          </Button>
        )}
      </div>
      <div ref={list}>
        {(data || !error) && (
          <DataTable
            label="Calls"
            columns={usageColumns}
            rows={rows}
            keyOf={({ id }) => id}
            fresh={fresh}
            empty={
              page?.totalCount === 0 ? <NoCalls /> : <NoMatch onClear={() => void navigate({ search: {} })} />
            }
          />
        )}
      </div>
      <Pager
        first={
          search.after !== undefined && (
            <Link to={paths.usage} search={{ ...search, after: undefined } as UsageSearch}>
              Newest
            </Link>
          )
        }
        next={
          page?.pageInfo.hasNextPage && (
            <Link to={paths.usage} search={{ ...search, after: page.pageInfo.endCursor! }}>
              Older calls
            </Link>
          )
        }
      />
    </>
  );
}

function NoCalls() {
  return (
    <Empty
      action={
        <Button component={Link} to={paths.dashboard}>
          Make the first call
        </Button>
      }
    >
      Each call with one of your keys will stand here, with its model, tokens, latency and cost.
    </Empty>
  );
}

function NoMatch({ onClear }: { onClear(): void }) {
  return (
    <Empty
      action={
        <Button variant="default" onClick={onClear}>
          Clear the filters
        </Button>
      }
    >
      No call of this window matches the filters. A new one that does comes here by itself.
    </Empty>
  );
}
