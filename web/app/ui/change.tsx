import { formatPoints, formatRate } from './format';

interface ChangeProps {
  now: number;
  before: number;
  /** Rates are compared in percentage points, everything else in percent. */
  by: 'share' | 'points';
}

/** The difference between a figure and that of the previous period. */
export function Change({ now, before, by }: ChangeProps) {
  if (now === before) return 'unchanged';
  const arrow = now > before ? '▲' : '▼';
  if (by === 'points') return `${arrow} ${formatPoints(Math.abs(now - before))}`;
  return before === 0 ? `${arrow} from 0` : `${arrow} ${formatRate(Math.abs(now - before) / before)}`;
}
