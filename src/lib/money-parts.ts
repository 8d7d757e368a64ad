import { trimEnd } from './trim-end.js';

/** An amount split as in docs/style.md: dollars and cents in ink, further digits muted. */
export interface MoneyParts {
  /** With sign, dollar sign and separated thousands: `-$1,234.50`. */
  main: string;
  /** Digits after the cents, without trailing zeros; often empty. */
  rest: string;
}

/** Splits a decimal string such as `"0.020137"`, exactly: it never becomes a float. */
export function moneyParts(decimal: string): MoneyParts {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  const cents = fraction.slice(0, 2).padEnd(2, '0');
  return { main: `${sign}$${grouped(whole)}.${cents}`, rest: trimEnd(fraction.slice(2), '0') };
}

/** Separates thousands by commas. */
function grouped(digits: string): string {
  const first = digits.length % 3 || 3;
  const groups = [digits.slice(0, first)];
  for (let at = first; at < digits.length; at += 3) groups.push(digits.slice(at, at + 3));
  return groups.join();
}

/** Whether a balance is below $0.001, where calls are refused. */
export const callsStopped = (decimal: string): boolean =>
  decimal.startsWith('-') || /^0(?:\.00(?:0\d*)?)?$/.test(decimal);
