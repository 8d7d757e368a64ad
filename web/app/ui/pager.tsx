import type { ReactNode } from 'react';
import classes from './pager.module.css';

interface PagerProps {
  /** A link towards the beginning of the list, if there is one. */
  newer: ReactNode;
  /** A link towards its end, if there is one. */
  older: ReactNode;
}

/** Links to the other pages of a list. */
export function Pager({ newer, older }: PagerProps) {
  if (!newer && !older) return null;
  return (
    <nav className={classes.pager} aria-label="Pages of the list">
      {newer}
      {older}
    </nav>
  );
}
