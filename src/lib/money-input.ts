import { z } from 'zod';
import { DOLLAR, type Money, parseMoney } from './money.js';

/** Largest amount that a caller may send: a million dollars. */
const MAX_INPUT: Money = 1_000_000n * DOLLAR;
const NO_AMOUNT = 'must be an amount such as 12.50';
const TOO_MUCH = 'must be at most 1000000';
/** The format of answers, with any leading or trailing zeros, and no longer than any amount needs. */
const DECIMAL = /^-?\d{1,24}(?:\.\d{1,24})?$/;
export const isDecimal = (text: string): boolean => DECIMAL.test(text);
const EXPONENT_FORM = /^(\d)(?:\.(\d+))?e-(\d+)$/;

/**
 * The plain decimal of a JSON number: the shortest text that parses to the same number, without an exponent (`1e-7` is `"0.0000001"`).
 * For numbers ≥ 0 and below 1e21, which JavaScript prints in full.
 */
export function decimalText(value: number): string {
  const text = String(value);
  const match = EXPONENT_FORM.exec(text);
  if (!match) return text;
  const [, first, rest = '', exponent] = match;
  return `0.${'0'.repeat(Number(exponent) - 1)}${first}${rest}`;
}

/** The fault of an amount, phrased to follow its field name; undefined if it is valid. */
function faultOf(value: number | string): string | undefined {
  if (typeof value === 'string' && !isDecimal(value)) return NO_AMOUNT;
  // Rounding a decimal to a number never moves it across a bound.
  if (Number(value) < 0) return 'must not be negative';
  return Number(value) > 1_000_000 ? TOO_MUCH : undefined;
}

/**
 * Dollars in a request, from 0 to 1,000,000 with at most 12 decimals: a JSON number, or a decimal string as in answers, which is never
 * rounded. The result is in units of 1e-12 dollars.
 */
export const moneyInput = z
  .union(
    [
      z.number().meta({ minimum: 0, maximum: 1_000_000 }),
      z.string().meta({ pattern: '^\\d{1,24}(\\.\\d{1,24})?$', examples: ['12.500000'] }),
    ],
    NO_AMOUNT,
  )
  .transform((value, context): Money => {
    const refuse = (message: string): never => {
      context.issues.push({ code: 'custom', message, input: value });
      return z.NEVER;
    };
    const fault = faultOf(value);
    if (fault) return refuse(fault);
    try {
      const units = parseMoney(typeof value === 'string' ? value : decimalText(value));
      return units <= MAX_INPUT ? units : refuse(TOO_MUCH);
    } catch {
      return refuse('must have at most 12 decimals');
    }
  });

/** Dollars with an optional sign, from -1,000,000 to 1,000,000. */
export const signedMoneyInput = z
  .union(
    [
      z.number().meta({ minimum: -1_000_000, maximum: 1_000_000 }),
      z.string().meta({ pattern: '^-?\\d{1,24}(\\.\\d{1,24})?$', examples: ['-12.500000'] }),
    ],
    NO_AMOUNT,
  )
  .transform((value, context): Money => {
    const isDebit = typeof value === 'number' ? value < 0 : value.startsWith('-');
    const size = typeof value === 'number' ? Math.abs(value) : value.replace('-', '');
    const { data, error } = moneyInput.safeParse(size);
    if (data !== undefined) return isDebit ? -data : data;
    context.issues.push({ code: 'custom', message: error.issues[0]!.message, input: value });
    return z.NEVER;
  });
