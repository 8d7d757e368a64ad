import { Link } from '@tanstack/react-router';
import { paths } from '../paths';
import { PageTitle } from '../ui/page-title';
import classes from './shell.module.css';

/** Shown for an unknown address. */
export function NotFoundPage() {
  return (
    <div className={classes.failure}>
      <PageTitle>Page not found</PageTitle>
      <p>The URL may be mistyped, or the page no longer exists.</p>
      <Link to={paths.dashboard}>Go to dashboard</Link>
    </div>
  );
}
