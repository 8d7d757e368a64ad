import type { ReactNode } from 'react';
import classes from './pager.module.css';

/** Ways to the other pages of a list; each is a link or nothing. */
export function Pager({ first, next }: { first: ReactNode; next: ReactNode }) {
  if (!first && !next) return null;
  return (
    <nav className={classes.pager} aria-label="Pages of the list">
      {first}
      {next}
    </nav>
  );
}
