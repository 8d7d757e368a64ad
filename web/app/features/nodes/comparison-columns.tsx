import type { CompareBenchmarksQuery } from '../../../generated/graphql';
import type { Column } from '../../ui/data-table';
import { formatPoints, formatRate } from '../../ui/format';
import { StatusWord } from '../../ui/status-word';
import { ms } from './benchmark-columns';
import { decimal } from './node-facts';
import classes from './nodes.module.css';

export type Comparison = NonNullable<CompareBenchmarksQuery['benchmarkComparison']>;
export type Compared = Comparison['measures'][number];
type Measure = Compared['measure'];

const perSecond = (value: number): string => `${decimal(value)}/s`;

interface Look {
  label: string;
  /** Name in a list of measures. */
  short: string;
  format(value: number): string;
}

/** In the order in which the server lists them. */
export const MEASURES: Record<Measure, Look> = {
  ERROR_RATE: { label: 'Error rate', short: 'error rate', format: formatRate },
  TOKENS_PER_SECOND: { label: 'Tokens', short: 'tokens', format: perSecond },
  GOODPUT: { label: 'Goodput', short: 'goodput', format: perSecond },
  P50_LATENCY_MS: { label: 'Latency, p50', short: 'p50', format: ms },
  P95_LATENCY_MS: { label: 'Latency, p95', short: 'p95', format: ms },
  TTFT_P50_MS: { label: 'Time to first token, p50', short: 'TTFT p50', format: ms },
  TTFT_P95_MS: { label: 'Time to first token, p95', short: 'TTFT p95', format: ms },
  ITL_P50_MS: { label: 'Between tokens, p50', short: 'ITL p50', format: ms },
  ITL_P95_MS: { label: 'Between tokens, p95', short: 'ITL p95', format: ms },
  TPOT_P50_MS: { label: 'Per token, p50', short: 'TPOT p50', format: ms },
};

const TONES = { BETTER: 'good', WORSE: 'bad', INCONCLUSIVE: 'idle' } as const;

const signed = (text: string, difference: number): string => `${difference > 0 ? '+' : '-'}${text}`;

/** The difference of the other run: `-20 ms (-2.2%)`. */
function differenceOf({ measure, base, other, changePct }: Compared): string {
  const by = other - base;
  if (by === 0) return 'none';
  if (measure === 'ERROR_RATE') return signed(formatPoints(Math.abs(by)), by);
  const amount = signed(MEASURES[measure].format(Math.abs(by)), by);
  return changePct == null ? amount : `${amount} (${signed(`${decimal(Math.abs(changePct))}%`, by)})`;
}

function intervalOf(measure: Measure, low: number | null | undefined, high: number | null | undefined) {
  if (low == null || high == null) return '–';
  const { format } = MEASURES[measure];
  return (
    <span className={classes.muted}>
      {format(low)} to {format(high)}
    </span>
  );
}

/** Compares two runs, one measure per row. */
export const comparisonColumns: readonly Column<Compared>[] = [
  {
    id: 'measure',
    head: 'Measure',
    phone: 1,
    cell: ({ measure }) => <span title={MEASURES[measure].short}>{MEASURES[measure].label}</span>,
  },
  {
    id: 'base',
    head: 'Base',
    figure: true,
    phone: 11,
    cell: ({ measure, base }) => MEASURES[measure].format(base),
  },
  {
    id: 'baseInterval',
    head: '95% interval',
    figure: true,
    cell: ({ measure, baseLow, baseHigh }) => intervalOf(measure, baseLow, baseHigh),
  },
  {
    id: 'other',
    head: 'Other',
    figure: true,
    phone: 12,
    cell: ({ measure, other }) => (
      <>
        <span aria-hidden="true" className={classes.to}>
          →{' '}
        </span>
        {MEASURES[measure].format(other)}
      </>
    ),
  },
  {
    id: 'otherInterval',
    head: '95% interval',
    figure: true,
    cell: ({ measure, otherLow, otherHigh }) => intervalOf(measure, otherLow, otherHigh),
  },
  { id: 'difference', head: 'Difference', figure: true, phone: 13, cell: differenceOf },
  {
    id: 'verdict',
    head: 'The other is',
    phone: 2,
    cell: ({ verdict }) => <StatusWord tone={TONES[verdict]}>{verdict.toLowerCase()}</StatusWord>,
  },
];
