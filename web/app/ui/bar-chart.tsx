import { type KeyboardEvent, useId } from 'react';
import {
  Bar,
  type BarShapeProps,
  CartesianGrid,
  BarChart as Chart,
  LabelList,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import classes from './bar-chart.module.css';
import { axisWidth, jumpOf, labelledMark, type Mark, namedMarks, totalOf } from './bar-chart.rules';
import { ChartTooltip } from './chart-tooltip';

export interface BarChartProps {
  /** Title for screen readers: `Cost per day`. */
  label: string;
  unit: 'hour' | 'day';
  /** From the bottom of each bar upwards; four at most. */
  series: readonly string[];
  marks: readonly Mark[];
  /** Errors are red and hatched. */
  tone: 'accent' | 'bad';
  /** A value in few characters. */
  format(value: number): string;
}

const HEIGHT = 220;
const WIDEST_BAR = 48;
/** Room for the half of a name, such as `26 Nov`, that is wider than its bar. */
const LAST_NAME_ROOM = 20;
/** Values above zero are at least this high. */
const LEAST_HEIGHT = 2;
/** Cached: the library registers a series again whenever its accessor changes. */
const PART_OF = [0, 1, 2, 3].map(
  (index) =>
    ({ parts }: Mark) =>
      parts[index],
);
const TEXT = { fill: 'var(--gw-muted)', fontSize: 12 } as const;

/** Stacked amounts per hour or day. Arrow keys go from mark to mark, and screen readers announce each. */
export default function BarChart({ label, unit, series, marks, tone, format }: BarChartProps) {
  const hatching = useId();
  const totals = marks.map(({ parts }) => totalOf(parts));
  const highest = labelledMark(totals);
  const named = namedMarks(marks.length, unit);
  const fillOf = (index: number): string =>
    tone === 'bad' ? `url(#${hatching})` : `var(--gw-series-${index})`;
  return (
    <figure
      className={classes.figure}
      data-named={named.length}
      onKeyDown={(event) => jump(event, marks.length, unit)}
    >
      {series.length > 1 && <Legend series={series} />}
      <Chart
        responsive
        className={classes.chart}
        style={{ width: '100%', height: HEIGHT }}
        data={[...marks]}
        margin={{ top: 20, right: LAST_NAME_ROOM, bottom: 0, left: 0 }}
        aria-label={`${label}. Arrow keys move from ${unit} to ${unit}.`}
      >
        <Hatching id={hatching} />
        <CartesianGrid vertical={false} stroke="var(--gw-line)" />
        <XAxis
          dataKey="name"
          ticks={named.map((index) => marks[index]!.name)}
          // All names: otherwise the library measures each in the page.
          interval={0}
          tick={TEXT}
          tickLine={false}
          axisLine={{ stroke: 'var(--gw-line-strong)' }}
        />
        <YAxis
          tickCount={3}
          allowDecimals={!totals.every(Number.isInteger)}
          interval={0}
          tickFormatter={format}
          tick={{ ...TEXT, fontFamily: 'var(--gw-mono)' }}
          tickLine={false}
          axisLine={false}
          width={axisWidth([totals[highest ?? 0] ?? 0, (totals[highest ?? 0] ?? 0) / 2].map(format))}
        />
        <Tooltip
          isAnimationActive={false}
          cursor={{ fill: 'var(--gw-sunken)' }}
          content={({ active, payload }) =>
            active &&
            payload[0] && <ChartTooltip mark={payload[0].payload as Mark} series={series} format={format} />
          }
        />
        {series.map((name, index) => (
          <Bar
            key={name}
            name={name}
            dataKey={PART_OF[index]!}
            stackId="all"
            fill={fillOf(index)}
            maxBarSize={WIDEST_BAR}
            minPointSize={(value) => (value ? LEAST_HEIGHT : 0)}
            isAnimationActive={false}
            activeBar={false}
            shape={Block}
          >
            {index === series.length - 1 && highest !== undefined && (
              <LabelList
                valueAccessor={({ payload }) =>
                  payload === marks[highest] ? format(totals[highest]!) : undefined
                }
                position="top"
                className={classes.label!}
              />
            )}
          </Bar>
        ))}
      </Chart>
    </figure>
  );
}

/** The bar of one series. The library's own would be measured in the page for an animation that we don't use. */
function Block({ x, y, width, height, fill }: BarShapeProps) {
  if (!width || !height) return null;
  return <path d={`M${x},${y}h${width}v${height}h${-width}z`} fill={fill} />;
}

/** The library only handles arrow keys: a jump is sent as many of them. */
function jump(event: KeyboardEvent, count: number, unit: 'hour' | 'day'): void {
  const wanted = jumpOf(event.key, count, unit);
  if (!wanted) return;
  event.preventDefault();
  for (let i = 0; i < wanted.times; i++)
    event.target.dispatchEvent(new window.KeyboardEvent('keydown', { key: wanted.arrow, bubbles: true }));
}

function Legend({ series }: { series: readonly string[] }) {
  return (
    <ul className={classes.legend} aria-label="Series">
      {series.map((name, index) => (
        <li key={name}>
          <span className={classes.key} data-series={index} aria-hidden="true" />
          {name}
        </li>
      ))}
    </ul>
  );
}

function Hatching({ id }: { id: string }) {
  return (
    <defs>
      <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="5" height="5" fill="var(--gw-bad)" />
        <rect width="1.5" height="5" fill="var(--gw-bad-soft)" />
      </pattern>
    </defs>
  );
}
