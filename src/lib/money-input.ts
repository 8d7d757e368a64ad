import { z } from 'zod';
import { DOLLAR, type Money, parseMoney } from './money.js';

/** Largest amount that a caller may send: a million dollars. */
const MAX_INPUT: Money = 1_000_000n * DOLLAR;
const EXPONENT_FORM = /^(\d)(?:\.(\d+))?e-(\d+)$/;

/**
 * The plain decimal of a JSON number: its shortest text that reads back as the same number, without an exponent
 * (`1e-7` is `"0.0000001"`). Takes numbers ≥ 0 and below 1e21, the ones that JavaScript prints in full.
 */
export function decimalText(value: number): string {
  const text = String(value);
  const match = EXPONENT_FORM.exec(text);
  if (!match) return text;
  const [, first, rest = '', exponent] = match;
  return `0.${'0'.repeat(Number(exponent) - 1)}${first}${rest}`;
}

/** Dollars in a request: a JSON number from 0 to 1,000,000 with at most 12 decimals; gives units of 1e-12 dollars. */
export const moneyInput = z
  .number('must be a number')
  .min(0, 'must not be negative')
  .max(1_000_000, 'must be at most 1000000')
  .transform((value, context): Money => {
    try {
      const units = parseMoney(decimalText(value));
      if (units <= MAX_INPUT) return units;
    } catch {
      // More than 12 decimals: reported below.
    }
    context.issues.push({ code: 'custom', message: 'must have at most 12 decimals', input: value });
    return z.NEVER;
  });
