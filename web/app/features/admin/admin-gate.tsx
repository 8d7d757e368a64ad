import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { InstallationWarningsDocument, ViewerDocument } from '../../../generated/graphql';
import { paths } from '../../paths';
import { ButtonLink } from '../../ui/button-link';
import { Note } from '../../ui/note';
import { PageHead } from '../../ui/page-head';
import classes from './admin.module.css';

/**
 * Around the pages of administrators. It keeps nobody from anything: the server answers nobody else. It says so before
 * anything is asked.
 */
export function AdminGate(): ReactNode {
  const [{ data }] = useQuery({ query: ViewerDocument });
  if (!data?.viewer) return null;
  if (data.viewer.role === 'ADMIN') {
    return (
      <>
        <Warnings />
        <Outlet />
      </>
    );
  }
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

/** What is wrong with the installation, above every page of administrators. */
function Warnings(): ReactNode {
  const [{ data }] = useQuery({ query: InstallationWarningsDocument });
  return data?.installationWarnings?.map(({ message }) => (
    <div key={message} className={classes.note}>
      <Note tone="warn">{message}</Note>
    </div>
  ));
}
