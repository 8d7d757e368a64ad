import { useEffect, useState } from 'react';
import classes from './unseen.module.css';

const SETTLED_MS = 1_000;

/**
 * Announces live figures to screen readers once nothing has changed for a while, so that a busy account isn't announced without
 * end.
 */
export function Settled({ children }: { children: string }) {
  const [announced, setAnnounced] = useState('');
  useEffect(() => {
    const timer = window.setTimeout(() => setAnnounced(children), SETTLED_MS);
    return () => window.clearTimeout(timer);
  }, [children]);
  return (
    <span role="status" className={classes.unseen}>
      {announced}
    </span>
  );
}
