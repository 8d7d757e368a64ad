import { Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, Suspense, useRef } from 'react';
import { KeysDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { lazyPage } from '../../lazy-page';
import outlines from '../../outlines.json';
import { paths } from '../../paths';
import { DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { ErrorNote } from '../../ui/error-note';
import { counted, formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { Pager } from '../../ui/pager';
import { SearchField } from '../../ui/search-field';
import { useCloseDialog } from '../../ui/use-close-dialog';
import { useFetched } from '../../use-fetched';
import { keyColumns } from './key-columns';
import { DEFAULT_KEY_SORT, KEY_ORDERS, keysSearch } from './keys-search';

// Loaded on demand: the form and its checks are larger than the list.
const CreateKeyDialog = lazyPage(() => import('./create-key-dialog'), 'CreateKeyDialog');

const REFRESH_MS = 2_000;
/** Fewer keys need no search field. */
const SEARCHED_FROM = 10;

/** `/dashboard/keys` */
export function KeysPage(): ReactNode {
  const {
    sort = DEFAULT_KEY_SORT,
    create = false,
    q,
    after,
  } = useSearch({ from: '/signed-in/dashboard/keys' });
  const navigate = useNavigate({ from: paths.keys });
  const wanted = useRef(create);
  wanted.current ||= create;
  const { data, error, awaiting, refresh } = usePageQuery({
    query: KeysDocument,
    variables: { search: q ?? null, orderBy: KEY_ORDERS[sort], after: after ?? null },
    touches: ['ApiKey', 'DeleteApiKeyPayload'],
  });
  useRefreshOnUsage(refresh, REFRESH_MS);
  const page = data?.viewer?.apiKeys;
  const keys = page?.nodes;
  /** Filters or sorts the list, which then begins with its first page. */
  const narrow = ({ q: text, sort: by }: { q?: string; sort?: string }): void =>
    void navigate({
      search: ({ after: _after, ...before }) =>
        keysSearch({ ...before, ...(text !== undefined && { q: text }), ...(by && { sort: by }) }),
      replace: true,
    });
  const { fetchDialog, error: missing } = useFetched(CreateKeyDialog);
  const open = async (): Promise<void> => {
    if (await fetchDialog()) void navigate({ search: (before) => ({ ...before, create: true }) });
  };
  const close = useCloseDialog(
    create,
    () => void navigate({ search: ({ create: _create, ...before }) => before, replace: true }),
  );
  return (
    <>
      <PageHead
        {...outlines['/dashboard/keys']}
        tools={page?.totalCount !== 0 && <Button onClick={() => void open()}>Create key</Button>}
      />
      {error && <LoadError error={error} onRetry={refresh} />}
      {missing && <ErrorNote error={missing} />}
      {page && (page.totalCount > SEARCHED_FROM || q) && (
        <SearchField
          label="Search keys"
          placeholder="Name, or the start or end of the key"
          value={q ?? ''}
          counted={
            q
              ? `${formatCount(page.foundCount)} of ${counted(page.totalCount, 'key')}`
              : counted(page.totalCount, 'key')
          }
          onChange={(text) => narrow({ q: text })}
        />
      )}
      {(keys || !error) && (
        <DataTable
          label="API keys"
          columns={keyColumns}
          rows={keys}
          awaiting={awaiting}
          keyOf={({ id }) => id}
          sort={{
            ids: Object.keys(KEY_ORDERS),
            by: sort,
            descending: sort !== 'name',
            onChange: (id) => narrow({ sort: id }),
          }}
          empty={
            q ? (
              'No matching keys.'
            ) : page?.totalCount !== 0 ? (
              'No keys on this page of the list.'
            ) : (
              <Empty action={<Button onClick={() => void open()}>Create key</Button>}>
                No keys yet. Calls need an API key. It is shown only once, when you create it.
              </Empty>
            )
          }
        />
      )}
      <Pager
        newer={
          after !== undefined && (
            <Link to={paths.keys} search={({ after: _after, ...before }) => before}>
              First page
            </Link>
          )
        }
        older={
          page?.pageInfo.hasNextPage && (
            <Link to={paths.keys} search={(before) => ({ ...before, after: page.pageInfo.endCursor! })}>
              Next page
            </Link>
          )
        }
      />
      {wanted.current && (
        <Suspense>
          <CreateKeyDialog opened={create} onClose={close} />
        </Suspense>
      )}
    </>
  );
}
