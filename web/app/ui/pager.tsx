import type { ReactNode } from 'react';
import classes from './pager.module.css';

interface PagerProps {
  /** Towards the beginning of the list; a link or nothing. */
  newer: ReactNode;
  /** Towards its end. */
  older: ReactNode;
}

/** Ways to the other pages of a list. */
export function Pager({ newer, older }: PagerProps) {
  if (!newer && !older) return null;
  return (
    <nav className={classes.pager} aria-label="Pages of the list">
      {newer}
      {older}
    </nav>
  );
}
