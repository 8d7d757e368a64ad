import { Button, NativeSelect } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { paths } from '../../paths';
import { PageHead } from '../../ui/page-head';
import { SearchField } from '../../ui/search-field';
import { Unseen } from '../../ui/unseen';
import classes from './admin.module.css';
import { ACTION_KINDS, auditSearch } from './admin-search';
import { AuditLog } from './audit-table';

/** `/admin/audit` */
export function AuditPage(): ReactNode {
  const search = useSearch({ from: '/signed-in/administrators/admin/audit' });
  const navigate = useNavigate({ from: paths.audit });
  const narrow = (change: Record<string, unknown>): void =>
    void navigate({
      search: ({ page: _page, ...before }) => auditSearch({ ...before, ...change }),
      replace: true,
    });
  return (
    <>
      <PageHead
        title="Audit log"
        lead="What administrators changed, here, over the API and on the command line. Entries can’t be changed or deleted."
      />
      <div className={classes.filters}>
        <SearchField
          label="Filter by what was changed"
          placeholder="ID of an account or node, or a model"
          value={search.subject ?? ''}
          onChange={(subject) => narrow({ subject })}
        />
        <NativeSelect
          aria-label="Kind of action"
          data={[{ value: '', label: 'Any action' }, ...ACTION_KINDS]}
          value={search.kind ?? ''}
          onChange={({ currentTarget }) => narrow({ kind: currentTarget.value })}
        />
        {search.actor && (
          <Button variant="default" onClick={() => narrow({ actor: undefined })}>
            <Unseen>Remove filter </Unseen>
            One administrator <span aria-hidden="true">×</span>
          </Button>
        )}
      </div>
      <AuditLog search={search} />
    </>
  );
}
