import { formatRate } from './format';
import classes from './limit-bar.module.css';
import { Money } from './money';

interface LimitBarProps {
  /** Label: `Spend of this month against its limit`. */
  label: string;
  spentUsd: string;
  /** Null: no limit. */
  limitUsd: string | null;
}

const WARN = 0.8;

/** Spend against its limit. Only the bar uses a float; the amounts are exact. */
export function LimitBar({ label, spentUsd, limitUsd }: LimitBarProps) {
  const limit = Number(limitUsd ?? 0);
  const share = limit > 0 ? Number(spentUsd) / limit : Number(limitUsd !== null);
  const state = share >= 1 ? 'reached' : share >= WARN ? 'near' : 'fine';
  return (
    <span className={classes.limit}>
      <span>
        <Money usd={spentUsd} />
        <span className={classes.of}>{limitUsd === null ? ', no limit' : ' of '}</span>
        {limitUsd !== null && <Money usd={limitUsd} />}
        {state === 'reached' && limitUsd !== null && <span className={classes.word}> reached</span>}
      </span>
      {limitUsd !== null && (
        <meter
          className={classes.meter}
          data-state={state}
          aria-label={label}
          aria-valuetext={formatRate(share)}
          min={0}
          max={1}
          value={Math.min(1, share)}
        />
      )}
    </span>
  );
}
