import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type UserRowFragment, UsersDocument } from '../../../generated/graphql';
import { usePageQuery } from '../../graphql/use-page-query';
import { paths } from '../../paths';
import { type Column, DataTable } from '../../ui/data-table';
import { LoadError } from '../../ui/load-error';
import { Moment } from '../../ui/moment';
import { PageHead } from '../../ui/page-head';
import { Pager } from '../../ui/pager';
import { SearchField } from '../../ui/search-field';
import { usersSearch } from './admin-search';
import { StateOfUser } from './user-facts';

const columns: readonly Column<UserRowFragment>[] = [
  {
    id: 'email',
    head: 'Email',
    whole: ({ email }) => email,
    phone: 1,
    cell: ({ id, email }) => (
      <Link to={paths.user} params={{ userId: id }}>
        {email}
      </Link>
    ),
  },
  { id: 'name', head: 'Name', whole: ({ name }) => name, cell: ({ name }) => name },
  { id: 'plan', head: 'Plan', phone: 11, cell: ({ planId }) => planId },
  { id: 'status', head: 'Status', phone: 2, cell: (user) => <StateOfUser user={user} /> },
  { id: 'role', head: 'Role', phone: 12, cell: ({ role }) => (role === 'ADMIN' ? 'admin' : 'user') },
  { id: 'balance', head: 'Balance', phone: 13, usd: ({ balanceUsd }) => balanceUsd },
  { id: 'created', head: 'Signed up', cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

/** `/admin/users` */
export function UsersPage(): ReactNode {
  const { q, after } = useSearch({ from: '/signed-in/administrators/admin/users' });
  const navigate = useNavigate({ from: paths.users });
  const { data, error, awaiting, refresh } = usePageQuery({
    query: UsersDocument,
    variables: { search: q ?? null, after: after ?? null },
    touches: ['User'],
  });
  const page = data?.users;
  return (
    <>
      <PageHead title="Users" lead="All accounts that aren’t deleted, newest first." />
      {error && <LoadError error={error} onRetry={refresh} />}
      <SearchField
        label="Search users"
        placeholder="Email address or name"
        value={q ?? ''}
        onChange={(text) => void navigate({ search: usersSearch({ q: text }), replace: true })}
      />
      {(page || !error) && (
        <DataTable
          label="Users"
          columns={columns}
          rows={page?.nodes}
          awaiting={awaiting}
          keyOf={({ id }) => id}
          empty="No matching accounts."
        />
      )}
      <Pager
        newer={
          after !== undefined && (
            <Link to={paths.users} search={({ after: _after, ...before }) => before}>
              First page
            </Link>
          )
        }
        older={
          page?.pageInfo.hasNextPage && (
            <Link to={paths.users} search={(before) => ({ ...before, after: page.pageInfo.endCursor! })}>
              Next page
            </Link>
          )
        }
      />
    </>
  );
}
