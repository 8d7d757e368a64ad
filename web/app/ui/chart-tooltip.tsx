import classes from './bar-chart.module.css';
import type { Mark } from './bar-chart.rules';

interface ChartTooltipProps {
  mark: Mark;
  series: readonly string[];
  format(value: number): string;
}

/** Shows the mark at the pointer, or the one that the arrow keys have reached. */
export function ChartTooltip({ mark, series, format }: ChartTooltipProps) {
  const parts = series.flatMap((name, index) =>
    mark.parts[index] ? [{ name, index, value: mark.parts[index] }] : [],
  );
  return (
    <div className={classes.tooltip} role="status">
      <strong>{mark.name}</strong>
      <span>{mark.words}</span>
      {series.length > 1 &&
        parts.map(({ name, index, value }) => (
          <span key={name}>
            <span className={classes.key} data-series={index} /> {name} {format(value)}
          </span>
        ))}
    </div>
  );
}
