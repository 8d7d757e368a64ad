import { formatAgo, formatLocal, formatUtc } from './format';
import classes from './moment.module.css';
import { useNow } from './use-now';

const MINUTE_MS = 60_000;

interface MomentProps {
  /** As the API tells it. */
  at: string;
  /** How long ago instead of when. */
  ago?: boolean;
}

/** A time on the clock of whoever looks at it; the pointer shows UTC. */
export function Moment({ at, ago = false }: MomentProps) {
  const now = useNow(MINUTE_MS);
  const time = new Date(at);
  return (
    <time className={classes.moment} dateTime={at} title={formatUtc(time)}>
      {ago ? formatAgo(time, now) : formatLocal(time, now)}
    </time>
  );
}
