import { formatPoints, formatRate } from './format';

interface ChangeProps {
  now: number;
  before: number;
  /** A rate differs by percentage points, everything else by a share of what it was. */
  by: 'share' | 'points';
}

/** How a figure differs from that of the time before. */
export function Change({ now, before, by }: ChangeProps) {
  if (now === before) return 'unchanged';
  const arrow = now > before ? '▲' : '▼';
  if (by === 'points') return `${arrow} ${formatPoints(Math.abs(now - before))}`;
  return before === 0 ? `${arrow} from 0` : `${arrow} ${formatRate(Math.abs(now - before) / before)}`;
}
