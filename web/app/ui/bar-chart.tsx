import { type KeyboardEvent, useId, useRef, useState } from 'react';
import classes from './bar-chart.module.css';
import { type Bar, barsOf, CHART, labelledBars, labelY } from './bar-chart.rules';

export interface BarChartProps {
  /** What is drawn: `Cost per day`. */
  label: string;
  marks: readonly {
    /** Below the chart: `21 Nov`. */
    name: string;
    value: number;
    /** On the bar, in few characters. */
    short: string;
    /** Everything of this mark in words, exact. */
    words: string;
  }[];
  /** Errors are red and hatched. */
  tone: 'accent' | 'bad';
}

/** Up to so many marks each has its name below it; of more the first, the middle and the last. */
const EACH_NAMED = 7;
const STEPS: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/** Amounts per day. Each bar is reached by the arrow keys and says what it is. */
export function BarChart({ label, marks, tone }: BarChartProps) {
  const hatching = useId();
  const chart = useRef<SVGSVGElement>(null);
  const [chosen, setChosen] = useState(marks.length - 1);
  const [shown, setShown] = useState<number>();
  const values = marks.map(({ value }) => value);
  const bars = barsOf(values);
  // A shorter window may have come meanwhile.
  const current = Math.min(chosen, marks.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    const ends = { Home: 0, End: marks.length - 1 }[event.key];
    const step = STEPS[event.key];
    if (ends === undefined && step === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(ends ?? current + step!, 0), marks.length - 1);
    setChosen(next);
    chart.current?.querySelectorAll<SVGElement>('[data-mark]')[next]?.focus();
  };
  const last = marks.length - 1;
  return (
    <figure className={classes.figure}>
      {/* biome-ignore lint/a11y/useSemanticElements: the group is a drawing */}
      <svg
        ref={chart}
        role="group"
        aria-label={`${label}. Arrow keys go from day to day.`}
        className={classes.chart}
        width="100%"
        height={CHART.height + 1}
        onKeyDown={onKeyDown}
        onPointerLeave={() => setShown(undefined)}
      >
        <defs>
          <pattern
            id={hatching}
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="5" height="5" fill="var(--gw-bad)" />
            <rect width="1.5" height="5" fill="var(--gw-bad-soft)" />
          </pattern>
        </defs>
        {[CHART.top, (CHART.height + CHART.top) / 2].map((y) => (
          <line key={y} className={classes.grid} x1="0" x2="100%" y1={y} y2={y} />
        ))}
        <line className={classes.base} x1="0" x2="100%" y1={CHART.height + 0.5} y2={CHART.height + 0.5} />
        {bars.map((bar, index) => (
          <g key={marks[index]!.name}>
            {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a mark that is read, one at a time */}
            <rect
              data-mark
              role="img"
              aria-label={marks[index]!.words}
              // One stop for the keyboard; the arrows go on from there.
              tabIndex={index === current ? 0 : -1}
              className={classes.slot}
              x={`${bar.slotX}%`}
              width={`${bar.slotWidth}%`}
              y="0"
              height={CHART.height}
              onPointerEnter={() => setShown(index)}
              onFocus={() => {
                setChosen(index);
                setShown(index);
              }}
              onBlur={() => setShown(undefined)}
            />
            <rect
              className={classes.bar}
              data-shown={index === shown || undefined}
              style={tone === 'bad' ? { fill: `url(#${hatching})` } : undefined}
              x={`${bar.x}%`}
              width={`${bar.width}%`}
              y={bar.y}
              height={bar.height}
            />
          </g>
        ))}
        {labelledBars(values).map((index) => (
          <Label key={index} bar={bars[index]!} y={labelY(bars, index)} text={marks[index]!.short} />
        ))}
      </svg>
      <div className={classes.days} data-each={marks.length <= EACH_NAMED || undefined} aria-hidden="true">
        {(marks.length <= EACH_NAMED ? marks : [marks[0]!, marks[last >> 1]!, marks[last]!]).map(
          ({ name }) => (
            <span key={name}>{name}</span>
          ),
        )}
      </div>
      <figcaption className={classes.reading} data-idle={shown === undefined || undefined} aria-hidden="true">
        {shown === undefined ? 'UTC days; point at one for its figures' : marks[shown]?.words}
      </figcaption>
    </figure>
  );
}

/** Above its bar, and never beyond the edge. */
function Label({ bar, y, text }: { bar: Bar; y: number; text: string }) {
  const middle = bar.x + bar.width / 2;
  const anchor = middle < 12 ? 'start' : middle > 88 ? 'end' : 'middle';
  const x = { start: bar.x, middle, end: bar.x + bar.width }[anchor];
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a text of a drawing takes no focus
    <text className={classes.label} x={`${x}%`} y={y} textAnchor={anchor} aria-hidden="true">
      {text}
    </text>
  );
}
