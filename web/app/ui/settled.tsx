import { useEffect, useState } from 'react';
import classes from './unseen.module.css';

const SETTLED_MS = 1_000;

/**
 * Words about figures that change by themselves, for who hears the page: read out once nothing has changed for a while, so that a
 * busy account doesn't talk without end.
 */
export function Settled({ children }: { children: string }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    const timer = window.setTimeout(() => setSaid(children), SETTLED_MS);
    return () => window.clearTimeout(timer);
  }, [children]);
  return (
    <span role="status" className={classes.unseen}>
      {said}
    </span>
  );
}
