import { Button } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { lazy, Suspense, useRef } from 'react';
import { KeysDocument } from '../../../generated/graphql';
import { useRefreshOnUsage } from '../../graphql/live-usage';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { DataTable } from '../../ui/data-table';
import { Empty } from '../../ui/empty';
import { LoadError } from '../../ui/load-error';
import { PageHead } from '../../ui/page-head';
import { KEY_SORTS, keyColumns, sortedKeys } from './key-columns';
import { DEFAULT_KEY_SORT } from './keys-search';

// A form and its checks weigh more than the list.
const CreateKeyDialog = lazy(async () => ({
  default: (await import('./create-key-dialog')).CreateKeyDialog,
}));

const REFRESH_MS = 2_000;

/** `/dashboard/keys` */
export function KeysPage(): ReactNode {
  const { sort = DEFAULT_KEY_SORT, create = false } = useSearch({ from: '/signed-in/dashboard/keys' });
  const navigate = useNavigate({ from: paths.keys });
  const wanted = useRef(create);
  wanted.current ||= create;
  const { data, error, refresh } = usePageQuery({ query: KeysDocument, variables: {}, touches: ['ApiKey'] });
  useRefreshOnUsage(refresh, REFRESH_MS);
  const keys = data?.viewer?.apiKeys.nodes;
  const open = (): void => void navigate({ search: (before) => ({ ...before, create: true }) });
  const close = (): void =>
    void navigate({ search: ({ create: _create, ...before }) => before, replace: true });
  return (
    <>
      <PageHead
        title="API keys"
        lead="What calls carry. Each has its own spend, caps and alerts; give every service one of its own."
        tools={keys?.length !== 0 && <Button onClick={open}>Create key</Button>}
      />
      {error && <LoadError error={error} onRetry={refresh} />}
      {(keys || !error) && (
        <DataTable
          label="API keys"
          columns={keyColumns}
          rows={keys && sortedKeys(keys, sort)}
          keyOf={({ id }) => id}
          sort={{
            ids: KEY_SORTS,
            by: sort,
            descending: sort !== 'name',
            onChange: (id) => void navigate({ search: (before) => ({ ...before, sort: id }), replace: true }),
          }}
          empty={
            <Empty action={<Button onClick={open}>Create key</Button>}>
              Your keys will stand here. Calls need one; it is shown once, when it is made.
            </Empty>
          }
        />
      )}
      {wanted.current && (
        <Suspense>
          <CreateKeyDialog opened={create} onClose={close} />
        </Suspense>
      )}
    </>
  );
}
