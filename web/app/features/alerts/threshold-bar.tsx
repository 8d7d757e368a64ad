import { Money } from '../../ui/money';
import classes from './alerts.module.css';
import { amountAt } from './thresholds.rules';

interface ThresholdBarProps {
  thresholds: readonly number[];
  limitUsd: string;
  spentUsd: string;
  /** Takes a percentage away; without it they only stand there. */
  onRemove?(percent: number): void;
}

/** The monthly limit as a bar: what is spent, where it tells, and each percentage as a chip with its amount. */
export function ThresholdBar({ thresholds, limitUsd, spentUsd, onRemove }: ThresholdBarProps) {
  const limit = Number(limitUsd);
  const spent = limit > 0 ? Math.min(100, (Number(spentUsd) / limit) * 100) : 100;
  return (
    <div className={classes.thresholds}>
      <div className={classes.bar} aria-hidden="true">
        <span className={classes.spent} style={{ width: `${spent}%` }} />
        {thresholds.map((percent) => (
          <span key={percent} className={classes.tick} style={{ left: `${percent}%` }} />
        ))}
      </div>
      <ul className={classes.chips} aria-label="Percentages of the monthly limit">
        {thresholds.map((percent) => (
          <li key={percent} className={classes.chip}>
            {percent}%{' '}
            <span className={classes.amount}>
              at <Money usd={amountAt(limitUsd, percent)} />
            </span>
            {onRemove && (
              <button type="button" aria-label={`Remove ${percent}%`} onClick={() => onRemove(percent)}>
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
