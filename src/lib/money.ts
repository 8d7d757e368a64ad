import { trimEnd } from './trim-end.js';

/**
 * Money is a bigint of 1e-12 dollars. One token at a price of p dollars per million costs exactly p × 1e6 units if p has at most six
 * decimals, so no charge is ever rounded.
 */
export type Money = bigint;

/** Units of 1e-12 dollars in one dollar. */
export const DOLLAR: Money = 1_000_000_000_000n;
const SCALE = 12;
const MIN_DECIMALS = 6;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
/** The format of `numeric(24,12)`. A fast path, since each flush reads hundreds of these. */
const TWELVE_DECIMALS = /^-?\d+\.\d{12}$/;

/**
 * Parses a plain decimal such as `"-1.25"` into units of 1e-12 dollars.
 * @throws RangeError if the text isn't a plain decimal, or has more than 12 decimals besides trailing zeros
 */
export function parseMoney(text: string): Money {
  if (TWELVE_DECIMALS.test(text)) return BigInt(text.slice(0, -SCALE - 1) + text.slice(-SCALE));
  const match = DECIMAL.exec(text);
  if (!match) throw new RangeError('not a plain decimal number');
  const fraction = trimEnd(match[3] ?? '', '0');
  if (fraction.length > SCALE) throw new RangeError('more than 12 decimals');
  const units = BigInt(match[2]!) * DOLLAR + BigInt(fraction.padEnd(SCALE, '0'));
  return match[1] ? -units : units;
}

/** Formats units of 1e-12 dollars with at least 6 and at most 12 decimals: `"1.000000"`, `"0.99999995"`. */
export function formatMoney(units: Money): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(SCALE + 1, '0');
  const whole = digits.slice(0, -SCALE);
  const fraction = trimEnd(digits.slice(-SCALE), '0').padEnd(MIN_DECIMALS, '0');
  return `${sign}${whole}.${fraction}`;
}

/** Converts a decimal of PostgreSQL (`numeric(24,12)`) to the format of the API. */
export function formatDecimal(text: string): string {
  return formatMoney(parseMoney(text));
}

/**
 * Price of one token in units of 1e-12 dollars, from dollars per million tokens.
 * @throws RangeError if the price has more than six decimals, since charges would not be exact
 */
export function pricePerToken(dollarsPerMillion: string): Money {
  const units = parseMoney(dollarsPerMillion);
  if (units % 1_000_000n !== 0n) throw new RangeError('a price has at most six decimals');
  return units / 1_000_000n;
}

/** Cost of a call: tokens × price ÷ 1,000,000, exact. Prices are in 1e-12 dollars per token. */
export function costOf(inputTokens: number, outputTokens: number, priceIn: Money, priceOut: Money): Money {
  return BigInt(inputTokens) * priceIn + BigInt(outputTokens) * priceOut;
}
