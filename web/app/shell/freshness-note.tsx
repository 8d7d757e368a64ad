import { useSyncExternalStore } from 'react';
import { freshness, onFreshness } from '../freshness';
import { formatClock } from '../ui/format';
import classes from './app-layout.module.css';

/** Shows that the page is no longer kept up to date, and how old it is. */
export function FreshnessNote() {
  const { live, asOf } = useSyncExternalStore(onFreshness, freshness);
  return (
    <p role="status" className={classes.freshness}>
      {!live && `Reconnecting, data as of ${formatClock(asOf)}`}
    </p>
  );
}
