import type { ReactNode } from 'react';
import classes from './empty.module.css';

/** An empty state: what will be listed here, and the button that creates the first one. */
export function Empty({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <p>{children}</p>
      {action}
    </div>
  );
}
