import { moneyParts } from '../../../src/lib/money-parts';

/** An amount to its last digit where only text can stand. */
export function moneyText(usd: string): string {
  const { main, rest } = moneyParts(usd);
  return main + rest;
}

/** A decimal of the API as somebody would type it: `0.250000` is 0.25. */
export const trimmedDecimal = (decimal: string): string =>
  decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
