import { moneyParts } from '../../../src/lib/money-parts';

/** An exact amount as plain text. */
export function moneyText(usd: string): string {
  const { main, rest } = moneyParts(usd);
  return main + rest;
}

/** A decimal of the API without trailing zeros: `0.250000` is 0.25. */
export const trimmedDecimal = (decimal: string): string =>
  decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;

/** A decimal of the API to the nearest cent, half a cent away from zero: `0.9999775` is 1.00. */
export function roundedToCents(decimal: string): string {
  const [, sign, dollars, digits = ''] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(decimal) ?? [];
  if (dollars === undefined) return decimal;
  const cents = BigInt(dollars + digits.slice(0, 2).padEnd(2, '0')) + (digits.charAt(2) >= '5' ? 1n : 0n);
  return `${sign}${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
}
