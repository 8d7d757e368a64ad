import { CheckIcon } from 'lucide-react';
import { parseMoney } from '../../../../src/lib/money';
import { Chip, Chips } from '../../ui/chips';
import { Money } from '../../ui/money';
import classes from './alerts.module.css';
import { amountAt } from './thresholds.rules';

interface ThresholdBarProps {
  thresholds: readonly number[];
  /** Null: no limit, and only the percentages are shown. */
  limitUsd: string | null;
  spentUsd: string;
  /** Removes a percentage; without it, there are no buttons. */
  onRemove?(percent: number): void;
}

/** The monthly limit as a bar with the spend and the alerts' marks, and each percentage as a chip with its amount. */
export function ThresholdBar({ thresholds, limitUsd, spentUsd, onRemove }: ThresholdBarProps) {
  const limit = Number(limitUsd);
  const share = limit > 0 ? (Number(spentUsd) / limit) * 100 : 100;
  const reached = (percent: number): boolean =>
    limitUsd !== null && parseMoney(spentUsd) >= parseMoney(amountAt(limitUsd, percent));
  return (
    <div className={classes.thresholds}>
      {limitUsd !== null && (
        <>
          <p className={classes.state} data-over={reached(100) || undefined}>
            <Money usd={spentUsd} /> of <Money usd={limitUsd} /> spent this month (UTC)
            {reached(100) && ', limit reached'}
          </p>
          <div className={classes.bar} aria-hidden="true">
            <span
              className={classes.spent}
              data-over={reached(100) || undefined}
              style={{ width: `${Math.min(100, share)}%` }}
            />
            {thresholds.map((percent) => (
              <span key={percent} className={classes.tick} style={{ left: `${percent}%` }} />
            ))}
          </div>
        </>
      )}
      <Chips label="Percentages of the monthly limit">
        {thresholds.map((percent) => (
          <Chip
            key={percent}
            isReached={reached(percent)}
            removes={onRemove && `${percent}%`}
            onRemove={() => onRemove?.(percent)}
          >
            {reached(percent) && <CheckIcon size={14} strokeWidth={2} aria-hidden="true" />}
            {percent}%{' '}
            {limitUsd !== null && (
              <span className={classes.amount} data-reached={reached(percent) || undefined}>
                at <Money usd={amountAt(limitUsd, percent)} />
                {reached(percent) && ', reached'}
              </span>
            )}
          </Chip>
        ))}
      </Chips>
    </div>
  );
}
