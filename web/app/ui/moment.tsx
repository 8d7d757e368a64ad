import { formatAgo, formatLocal, formatUtc } from './format';
import classes from './moment.module.css';
import { useNow } from './use-now';

const MINUTE_MS = 60_000;

interface MomentProps {
  /** A time of the API. */
  at: string;
  /** Shows how long ago it was. */
  ago?: boolean;
}

/** A time in the user's time zone; the pointer shows UTC. */
export function Moment({ at, ago = false }: MomentProps) {
  const now = useNow(MINUTE_MS);
  const time = new Date(at);
  return (
    <time className={classes.moment} dateTime={at} title={formatUtc(time)}>
      {ago ? formatAgo(time, now) : formatLocal(time, now)}
    </time>
  );
}
