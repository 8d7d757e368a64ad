import { formatRate } from './format';

interface ChangeProps {
  now: number;
  before: number;
  /** `7 days` */
  window: string;
}

/** How a figure differs from that of the window before. */
export function Change({ now, before, window }: ChangeProps) {
  if (before === 0) return now === 0 ? 'as before' : `none in prior ${window}`;
  const change = (now - before) / before;
  if (change === 0) return `as in prior ${window}`;
  return `${change > 0 ? '▲' : '▼'} ${formatRate(Math.abs(change))} on prior ${window}`;
}
