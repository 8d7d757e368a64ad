import { escaped } from '../../lib/html.js';
import type { ModelHourOutput } from '../../services/leaderboard/leaderboard.outputs.js';

/** Positions of a chart's marks, in units of its view box. */
interface Frame {
  width: number;
  height: number;
}

const place = (value: number): string => String(Math.round(value * 10) / 10);

/**
 * Bars of amounts, from the base line up.
 * @param highest The amount at the full height of the frame.
 */
export function barsOf(
  amounts: readonly number[],
  { width, height }: Frame,
  { className, highest = Math.max(1, ...amounts) }: { className: string; highest?: number },
): string {
  const each = width / amounts.length;
  const bars = amounts.map((amount, i) => {
    if (amount === 0) return '';
    const tall = Math.max(1, (amount / highest) * height);
    return `M${place(i * each)} ${place(height)}v-${place(tall)}h${place(each * 0.8)}v${place(tall)}z`;
  });
  return `<path class="${className}" d="${bars.join('')}"/>`;
}

/** A line through values, interrupted where values are missing. */
export function lineOf(
  values: readonly (number | null)[],
  { width, height }: Frame,
  highest: number,
): string {
  const each = width / values.length;
  let isDown = false;
  const points = values.map((value, i) => {
    const from = isDown ? 'L' : 'M';
    isDown = value !== null;
    if (value === null) return '';
    const at = `${from}${place((i + 0.5) * each)} ${place(height - (value / highest) * height)}`;
    // An hour between two without calls is drawn as a point.
    return from === 'M' ? `${at}h0.1` : at;
  });
  return `<path class="line" d="${points.join('')}"/>`;
}

/** The 95th percentile of each hour with successful calls. */
export const latenciesOf = (hours: readonly ModelHourOutput[]): (number | null)[] =>
  hours.map((hour) => (hour.requests > hour.errors ? hour.p95_latency_ms : null));

const HOURS_PER_BAR = 6;
const SPARK: Frame = { width: 140, height: 28 };

/** A week at a glance: calls as bars, the 95th percentile of latency as a line. */
export function sparkline(model: string, hours: readonly ModelHourOutput[]): string {
  const bars = Array.from({ length: Math.ceil(hours.length / HOURS_PER_BAR) }, (_, i) =>
    hours.slice(i * HOURS_PER_BAR, (i + 1) * HOURS_PER_BAR).reduce((sum, { requests }) => sum + requests, 0),
  );
  const latencies = latenciesOf(hours);
  const highest = Math.max(1, ...latencies.map((value) => value ?? 0));
  return `<svg class="spark" viewBox="0 0 ${SPARK.width} ${SPARK.height}" width="${SPARK.width}" height="${SPARK.height}" role="img" aria-label="${escaped(`Calls and latency of ${model} over the last 7 days`)}">${barsOf(bars, SPARK, { className: 'bars' })}${lineOf(latencies, SPARK, highest)}</svg>`;
}
