import { Link } from '@tanstack/react-router';
import { paths } from '../paths';
import { Brand } from '../ui/brand';
import { PageTitle } from '../ui/page-title';
import classes from './shell.module.css';

/** For an address that is nothing. */
export function NotFoundPage() {
  return (
    <main id="main" tabIndex={-1} className={classes.plain}>
      <Brand />
      <PageTitle>Page not found</PageTitle>
      <p>The URL may be mistyped, or the page no longer exists.</p>
      <Link to={paths.dashboard}>Go to dashboard</Link>
    </main>
  );
}
