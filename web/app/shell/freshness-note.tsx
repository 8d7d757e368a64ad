import { useSyncExternalStore } from 'react';
import { freshness, onFreshness } from '../freshness';
import { madeOnce } from '../ui/made-once';
import classes from './app-layout.module.css';

const clockTime = madeOnce(
  () => new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
);

/** Says that what is shown is no longer kept up to date, and of when it is. */
export function FreshnessNote() {
  const { live, asOf } = useSyncExternalStore(onFreshness, freshness);
  return (
    <p role="status" className={classes.freshness}>
      {!live && `Reconnecting, data as of ${clockTime().format(asOf)}`}
    </p>
  );
}
