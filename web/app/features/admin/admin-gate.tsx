import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { ViewerDocument } from '../../../generated/graphql';
import { paths } from '../../paths';
import { ButtonLink } from '../../ui/button-link';
import { PageHead } from '../../ui/page-head';

/**
 * Around the pages of administrators. It keeps nobody from anything: the server answers nobody else. It says so before
 * anything is asked.
 */
export function AdminGate(): ReactNode {
  const [{ data }] = useQuery({ query: ViewerDocument });
  if (!data?.viewer) return null;
  if (data.viewer.role === 'ADMIN') return <Outlet />;
  return (
    <>
      <PageHead
        title="No permission"
        lead={`Only administrators can open this page. You are logged in as ${data.viewer.email}, a regular account. Ask an administrator of this installation for the role.`}
      />
      <ButtonLink to={paths.dashboard}>Go to dashboard</ButtonLink>
    </>
  );
}
