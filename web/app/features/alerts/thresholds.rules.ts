import { formatMoney, parseMoney } from '../../../../src/lib/money';

/** Percentages that one subscription may list. */
export const MAX_THRESHOLDS = 5;
/** What a new subscription begins with. */
export const FIRST_THRESHOLDS = [50, 80, 100];

/** Dollars at which a percentage of a limit is reached. Exact. */
export const amountAt = (limitUsd: string, percent: number): string =>
  formatMoney((parseMoney(limitUsd) * BigInt(percent)) / 100n);

/** The percentages with one more, ascending, or what is wrong with it. */
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
