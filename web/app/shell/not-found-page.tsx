import { Link } from '@tanstack/react-router';
import { paths } from '../paths';
import { PageTitle } from '../ui/page-title';
import classes from './shell.module.css';

/** For an address that is nothing. */
export function NotFoundPage() {
  return (
    <main id="main" tabIndex={-1} className={classes.plain}>
      <PageTitle>There is nothing here</PageTitle>
      <p>The address may have been mistyped, or what it named is gone.</p>
      <Link to={paths.dashboard}>To the dashboard</Link>
    </main>
  );
}
