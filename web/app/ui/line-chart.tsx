import classes from './line-chart.module.css';
import { type Reading, roundMaximum, runsOf } from './line-chart.rules';

interface LineChartProps {
  /** Title: `GPU utilization`. */
  label: string;
  /** Oldest first. */
  readings: readonly Reading[];
  fromMs: number;
  toMs: number;
  /** The top of the axis; absent: a round number above the highest value. */
  most?: number;
  format(value: number): string;
}

const WIDTH = 320;
const HEIGHT = 72;
/** Half of the line width, so that the line isn't cut off at the edges. */
const MARGIN = 1;

/** A small line chart over time. The page shows its figure beside it and, on request, as a table. */
export function LineChart({ label, readings, fromMs, toMs, most, format }: LineChartProps) {
  const values = readings.map(({ value }) => value);
  const top = most ?? roundMaximum(Math.max(0, ...values));
  const x = (atMs: number): number => ((atMs - fromMs) / Math.max(1, toMs - fromMs)) * WIDTH;
  const y = (value: number): number => HEIGHT - MARGIN - (Math.min(value, top) / top) * (HEIGHT - 2 * MARGIN);
  const words =
    values.length === 0
      ? 'no values'
      : `from ${format(Math.min(...values))} to ${format(Math.max(...values))}, last ${format(values.at(-1)!)}`;
  return (
    <div className={classes.chart}>
      <span className={classes.most} aria-hidden="true">
        {format(top)}
      </span>
      <svg
        role="img"
        aria-label={`${label}: ${words}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {runsOf(readings).map((run) => (
          <polyline
            key={run[0]!.atMs}
            // A single reading is a point.
            points={[...run, run.at(-1)!].map(({ atMs, value }) => `${x(atMs)},${y(value)}`).join(' ')}
          />
        ))}
      </svg>
    </div>
  );
}
