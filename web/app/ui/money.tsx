import { moneyParts } from '../../../src/lib/money-parts';
import classes from './money.module.css';
import { moneyText, roundedToCents } from './money-text';

interface MoneyProps {
  usd: string;
  /** Shows a plus before positive amounts. */
  signed?: boolean;
  /** Digits after the cents for which there is room, so that a column is aligned at the decimal point. */
  room?: number;
}

/** An exact amount in dollars. */
export function Money({ usd, signed = false, room }: MoneyProps) {
  const { main, rest } = moneyParts(usd);
  return (
    <span className={classes.money}>
      {signed && !main.startsWith('-') && '+'}
      {main}
      {(rest !== '' || room !== undefined) && (
        <span
          className={classes.rest}
          style={room === undefined ? undefined : { paddingRight: `${room - rest.length}ch` }}
        >
          {rest}
        </span>
      )}
    </span>
  );
}

/** An amount rounded to cents, where there is no room for more; the pointer shows the exact one. */
export function ShortMoney({ usd }: { usd: string }) {
  const { main } = moneyParts(roundedToCents(usd));
  const tiny = /^-?\$0\.00$/.test(main) && /[1-9]/.test(usd);
  return (
    <span className={classes.money} title={moneyText(usd)}>
      {tiny ? (usd.startsWith('-') ? '> -$0.01' : '< $0.01') : main}
    </span>
  );
}
