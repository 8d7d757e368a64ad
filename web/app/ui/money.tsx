import { moneyParts } from '../../../src/lib/money-parts';
import classes from './money.module.css';

/** An amount in dollars to its last digit. */
export function Money({ usd }: { usd: string }) {
  const { main, rest } = moneyParts(usd);
  return (
    <span className={classes.money}>
      {main}
      {rest !== '' && <span className={classes.rest}>{rest}</span>}
    </span>
  );
}
