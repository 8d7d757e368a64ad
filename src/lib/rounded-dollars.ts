import { moneyParts } from './money-parts.js';

/**
 * Formats an inexact amount, such as a bound of an estimate: to cents, or to two significant digits if smaller. `13.333333` is $13.33,
 * `0.0000013333` is $0.0000013.
 */
export function roundedDollars(usd: number): string {
  const digits = Math.max(2, 1 - Math.floor(Math.log10(usd || 1)));
  const { main, rest } = moneyParts(usd.toFixed(digits));
  return main + rest;
}
