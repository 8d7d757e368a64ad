import type { ReactNode } from 'react';
import classes from './empty.module.css';

/** What will stand here, and the button that makes it so. */
export function Empty({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <p>{children}</p>
      {action}
    </div>
  );
}
