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
 * Wraps the pages of administrators. Other users see that the page isn't for them, before a request is sent. The server enforces
 * it.
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

/** Warnings about the installation, above every page of administrators. */
function Warnings(): ReactNode {
  const [{ data }] = useQuery({ query: InstallationWarningsDocument });
  return data?.installationWarnings?.map(({ message }) => (
    <div key={message} className={classes.note}>
      <Note tone="warn">{message}</Note>
    </div>
  ));
}
