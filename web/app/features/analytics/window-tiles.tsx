import type { ReactNode } from 'react';
import type { WindowTotalsFragment } from '../../../generated/graphql';
import { Awaiting } from '../../ui/awaiting';
import { Change } from '../../ui/change';
import { formatCount, formatLatency, formatRate, shortCount } from '../../ui/format';
import { Money } from '../../ui/money';
import { Tile, Tiles } from '../../ui/tiles';
import { windowWords } from './window';
import classes from './window-tiles.module.css';

type Totals = WindowTotalsFragment;

interface Figure {
  label: string;
  of(totals: Totals): number;
  shown(totals: Totals): ReactNode;
  /** The number of calls behind an average, which is missing without calls. Absent for sums, which are 0 then. */
  madeOf?(totals: Totals): number;
  by?: 'share' | 'points';
}

const calls = ({ totalRequests }: Totals): number => totalRequests;
const tokens = ({ totalTokensIn, totalTokensOut }: Totals): number => totalTokensIn + totalTokensOut;
const successes = ({ totalRequests, errorCount }: Totals): number => totalRequests - errorCount;

const FIGURES: readonly Figure[] = [
  {
    label: 'Spend',
    of: ({ totalCostUsd }) => Number(totalCostUsd),
    shown: ({ totalCostUsd }) => <Money usd={totalCostUsd} />,
  },
  { label: 'Requests', of: calls, shown: (totals) => formatCount(calls(totals)) },
  { label: 'Tokens', of: tokens, shown: (totals) => <Tokens totals={totals} /> },
  {
    label: 'Error rate',
    of: ({ errorRate }) => errorRate,
    shown: ({ errorRate }) => formatRate(errorRate),
    madeOf: calls,
    by: 'points',
  },
  {
    label: 'Latency, median',
    of: ({ p50LatencyMs }) => p50LatencyMs,
    shown: ({ p50LatencyMs }) => formatLatency(p50LatencyMs),
    madeOf: successes,
  },
  {
    label: 'Latency, p95',
    of: ({ p95LatencyMs }) => p95LatencyMs,
    shown: ({ p95LatencyMs }) => formatLatency(p95LatencyMs),
    madeOf: successes,
  },
];

/** Why a figure is missing. */
const none = (totals: Totals): string => (calls(totals) === 0 ? 'no calls' : 'no call succeeded');

function noteOf({ of, madeOf, by = 'share' }: Figure, now: Totals, before: Totals) {
  if (madeOf?.(now) === 0) return null;
  if ((madeOf ?? calls)(before) === 0) return calls(now) === 0 ? null : `${none(before)} before`;
  return <Change now={of(now)} before={of(before)} by={by} />;
}

interface WindowTilesProps {
  now: Totals | undefined;
  before: Totals | undefined;
  windowDays: number;
  /** The figures are still those of the previous window. */
  awaiting: boolean;
}

/** The figures of a window, compared with the previous window up to the same time of day. */
export function WindowTiles({ now, before, windowDays, awaiting }: WindowTilesProps) {
  return (
    <div>
      <Awaiting awaiting={awaiting}>
        <Tiles>
          {FIGURES.map((figure) => (
            <Tile key={figure.label} label={figure.label} note={now && before && noteOf(figure, now, before)}>
              {now && (figure.madeOf?.(now) === 0 ? <Nothing>{none(now)}</Nothing> : figure.shown(now))}
            </Tile>
          ))}
        </Tiles>
      </Awaiting>
      <p className={classes.window}>{windowWords(windowDays)}</p>
    </div>
  );
}

/** Tokens in few characters; the pointer shows the exact input and output. */
function Tokens({ totals }: { totals: Totals }) {
  const exact = `${formatCount(totals.totalTokensIn)} in, ${formatCount(totals.totalTokensOut)} out`;
  return <span title={exact}>{shortCount(tokens(totals))}</span>;
}

function Nothing({ children }: { children: string }) {
  return <span className={classes.nothing}>{children}</span>;
}
