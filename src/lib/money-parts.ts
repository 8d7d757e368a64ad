import { trimEnd } from './trim-end.js';

/** A decimal of the API in the parts of docs/style.md: dollars and cents in ink, what is behind them muted. */
export interface MoneyParts {
  /** With sign, dollar sign and thousands apart: `-$1,234.50`. */
  main: string;
  /** Digits behind the cents, without the zeros at the end; often empty. */
  rest: string;
}

/** Splits a decimal string such as `"0.020137"`. Exact: no number is made of it. */
export function moneyParts(decimal: string): MoneyParts {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  const cents = fraction.slice(0, 2).padEnd(2, '0');
  return { main: `${sign}$${grouped(whole)}.${cents}`, rest: trimEnd(fraction.slice(2), '0') };
}

/** The digits with a comma before each three. */
function grouped(digits: string): string {
  const first = digits.length % 3 || 3;
  const groups = [digits.slice(0, first)];
  for (let at = first; at < digits.length; at += 3) groups.push(digits.slice(at, at + 3));
  return groups.join();
}

/** Whether a balance is below $0.001, so that calls are refused. */
export const callsStopped = (decimal: string): boolean =>
  decimal.startsWith('-') || /^0(?:\.00(?:0\d*)?)?$/.test(decimal);
