import type { ReactNode } from 'react';
import classes from './unseen.module.css';

/** Text for screen readers only. */
export function Unseen({ children }: { children: ReactNode }) {
  return <span className={classes.unseen}>{children}</span>;
}
