import type { ReactNode } from 'react';
import classes from './unseen.module.css';

/** Words for who hears the page instead of seeing it. */
export function Unseen({ children }: { children: ReactNode }) {
  return <span className={classes.unseen}>{children}</span>;
}
