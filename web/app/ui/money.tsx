import { moneyParts } from '../../../src/lib/money-parts';
import classes from './money.module.css';
import { moneyText, roundedToCents } from './money-text';

interface MoneyProps {
  usd: string;
  /** A plus in front of what comes in. */
  signed?: boolean;
  /** Digits behind the cents for which there is room, so that the points of a column stand below each other. */
  room?: number;
}

/** An amount in dollars to its last digit. */
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

/** An amount rounded to cents, where there is room for no more; the pointer shows all of it. */
export function ShortMoney({ usd }: { usd: string }) {
  const { main } = moneyParts(roundedToCents(usd));
  const tiny = /^-?\$0\.00$/.test(main) && /[1-9]/.test(usd);
  return (
    <span className={classes.money} title={moneyText(usd)}>
      {tiny ? (usd.startsWith('-') ? '> -$0.01' : '< $0.01') : main}
    </span>
  );
}
