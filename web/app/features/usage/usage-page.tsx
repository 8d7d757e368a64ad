import { Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useRef } from 'react';
import { UsageFiltersDocument, UsageLogDocument, type UsageLogQuery } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { lazyPage } from '../../lazy-page';
import outlines from '../../outlines.json';
import { paths } from '../../paths';
import { DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { counted, formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { Money } from '../../ui/money';
import { moneyText } from '../../ui/money-text';
import { PageHead } from '../../ui/page-head';
import { Pager } from '../../ui/pager';
import { Settled } from '../../ui/settled';
import { useCloseDialog } from '../../ui/use-close-dialog';
import { useHeldScroll } from '../../ui/use-held-scroll';
import { Waiting } from '../../ui/waiting';
import { DEFAULT_WINDOW, WINDOWS, type WindowDays } from '../analytics/window';
import { FindCall } from './find-call';
import classes from './usage.module.css';
import { usageColumns } from './usage-columns';
import { UsageFilters } from './usage-filters';
import { belongs, filterOf, type UsageSearch } from './usage-search';
import { useLiveRows } from './use-live-rows';

const CallDrawer = lazyPage(() => import('./call-drawer'), 'default');

const SUM_MS = 2_000;

/** `/dashboard/usage` */
export function UsagePage(): ReactNode {
  const search = useSearch({ from: '/signed-in/dashboard/usage' });
  const { call, ...listed } = search;
  const navigate = useNavigate({ from: paths.usage });
  const list = useRef<HTMLDivElement>(null);
  const { data, error, awaiting, refresh } = usePageQuery({
    query: UsageLogDocument,
    variables: { filter: filterOf(search), after: search.after ?? null, before: search.before ?? null },
    touches: ['UsageEvent', 'ApiKey'],
  });
  const choices = usePageQuery({
    query: UsageFiltersDocument,
    variables: {},
    touches: ['ApiKey', 'DeleteApiKeyPayload'],
  });
  // Usually both fail for the same reason.
  const failure = error ?? choices.error;
  const retry = (): void => {
    refresh();
    choices.refresh();
  };
  const page = data?.viewer?.usageEvents;
  // Refreshes the sum of all calls, whether their rows are shown or held.
  useRefreshOnUsage(refresh, SUM_MS);
  const { rows, fresh, held, release } = useLiveRows(
    page?.nodes,
    JSON.stringify(listed),
    // Only the first page has the newest calls.
    (event) => !search.after && !search.before && belongs(event, search),
    { hold: true, hasMore: page?.pageInfo.hasNextPage ?? false },
  );
  const showHeld = (): void => {
    release();
    refresh();
    window.scrollTo({ top: 0 });
  };
  useHeldScroll(list, rows && `${rows.length} ${rows[0]?.id}`);
  const change = (changes: Partial<Record<keyof UsageSearch, unknown>>): void =>
    void navigate({
      search: ({ after: _after, before: _before, ...rest }) => ({ ...rest, ...changes }) as UsageSearch,
      replace: true,
    });
  const look = (id: string): void =>
    void navigate({ search: (before) => ({ ...before, call: id }), resetScroll: false });
  const close = useCloseDialog(
    call !== undefined,
    () => void navigate({ search: ({ call: _call, ...rest }) => rest, replace: true, resetScroll: false }),
  );
  // Back at the beginning, the list is live again.
  const isBeginning = search.before !== undefined && !awaiting && page?.pageInfo.hasPreviousPage === false;
  useEffect(() => {
    if (!isBeginning) return;
    void navigate({ search: ({ before: _before, ...rest }) => rest, replace: true, resetScroll: false });
  }, [isBeginning, navigate]);
  return (
    <>
      <PageHead {...outlines['/dashboard/usage']} />
      <UsageFilters search={search} choices={choices.data} onChange={change} />
      <FindCall onFind={look} />
      {failure && <LoadError error={failure} onRetry={retry} />}
      {(page || !error) && <Totals page={page} />}
      <Settled>{held > 0 ? counted(held, 'new call') : ''}</Settled>
      <div className={classes.held}>
        {held > 0 && (
          <Button size="xs" variant="default" onClick={showHeld}>
            {counted(held, 'new call')}
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
            awaiting={awaiting}
            onOpen={({ id }) => look(id)}
            empty={
              page?.totalCount === 0 ? (
                <NoCalls />
              ) : search.key || search.model || search.status || search.day ? (
                <NoMatch onClear={() => void navigate({ search: {} })} />
              ) : (
                <NoneInWindow days={search.window ?? DEFAULT_WINDOW} onWiden={change} />
              )
            }
          />
        )}
      </div>
      <Pager
        newer={
          page?.pageInfo.hasPreviousPage &&
          page.pageInfo.startCursor && (
            <Link to={paths.usage} search={{ ...filters(listed), before: page.pageInfo.startCursor }}>
              Newer
            </Link>
          )
        }
        older={
          page?.pageInfo.hasNextPage && (
            <Link to={paths.usage} search={{ ...filters(listed), after: page.pageInfo.endCursor! }}>
              Older
            </Link>
          )
        }
      />
      {call && (
        <Suspense>
          <CallDrawer id={call} onClose={close} />
        </Suspense>
      )}
    </>
  );
}

const filters = ({ after: _after, before: _before, ...rest }: UsageSearch): UsageSearch => rest;

interface TotalsProps {
  /** Undefined while loading: the line keeps its place. */
  page: NonNullable<UsageLogQuery['viewer']>['usageEvents'] | undefined;
}

/** The totals of all filtered calls, not only those of the page. */
function Totals({ page }: TotalsProps) {
  const totals = page?.totals;
  return (
    <p className={classes.totals}>
      {totals ? (
        <>
          <strong>{formatCount(totals.calls)}</strong> {totals.calls === 1 ? 'call' : 'calls'} in all,{' '}
          <Money usd={totals.costUsd} />
          <Settled>{`${counted(totals.calls, 'call')}, ${moneyText(totals.costUsd)} together`}</Settled>
        </>
      ) : (
        <Waiting width={176} />
      )}
    </p>
  );
}

function NoCalls() {
  return (
    <Empty
      action={
        <Button component={Link} to={paths.dashboard}>
          Make your first call
        </Button>
      }
    >
      No calls yet. Calls with your keys appear here with their model, tokens, latency and cost.
    </Empty>
  );
}

interface NoneInWindowProps {
  days: WindowDays;
  onWiden(change: { window: WindowDays }): void;
}

function NoneInWindow({ days, onWiden }: NoneInWindowProps) {
  const longest = WINDOWS.at(-1)!;
  return (
    <Empty
      action={
        days < longest && (
          <Button variant="default" onClick={() => onWiden({ window: longest })}>
            Show {longest} days
          </Button>
        )
      }
    >
      No calls {days === 1 ? 'today' : `in the last ${days} days`}. New calls appear automatically.
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
      No calls in this window match the filters. New matching calls appear automatically.
    </Empty>
  );
}
