import { formatMoney, parseMoney } from '../../../../src/lib/money';

/** The most percentages of one subscription. */
export const MAX_THRESHOLDS = 5;
/** The percentages of a new subscription. */
export const FIRST_THRESHOLDS = [50, 80, 100];

/** The amount of dollars at a percentage of a limit. Exact. */
export const amountAt = (limitUsd: string, percent: number): string =>
  formatMoney((parseMoney(limitUsd) * BigInt(percent)) / 100n);

/** Adds a percentage, in ascending order, or returns its error. */
export function withThreshold(
  list: readonly number[],
  typed: string,
): { list: number[] } | { fault: string } {
  const percent = Number(typed.trim().replace(/\s*%$/, ''));
  if (!Number.isInteger(percent) || percent < 1 || percent > 100) {
    return { fault: 'Must be a whole number from 1 to 100' };
  }
  if (list.includes(percent)) return { fault: 'Already in the list' };
  return { list: [...list, percent].sort((a, b) => a - b) };
}
