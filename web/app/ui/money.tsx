import { moneyParts } from '../../../src/lib/money-parts';
import classes from './money.module.css';

interface MoneyProps {
  usd: string;
  /** A plus in front of what comes in. */
  signed?: boolean;
}

/** An amount in dollars to its last digit. */
export function Money({ usd, signed = false }: MoneyProps) {
  const { main, rest } = moneyParts(usd);
  return (
    <span className={classes.money}>
      {signed && !main.startsWith('-') && '+'}
      {main}
      {rest !== '' && <span className={classes.rest}>{rest}</span>}
    </span>
  );
}
