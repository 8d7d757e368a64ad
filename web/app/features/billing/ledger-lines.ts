import type { LedgerMonthQuery } from '../../../generated/graphql';

type Month = NonNullable<LedgerMonthQuery['viewer']>['ledgerMonth'];
export type LedgerCredit = Month['credits'][number];
export type ChargedDay = Month['charges'][number];

/** A line of the ledger: an entry, or all charges of a day. */
export type LedgerLine = { id: string; sort: string } & (
  | { credit: LedgerCredit; day?: undefined }
  | { day: ChargedDay; credit?: undefined }
);

/** Sorts after every time of the day: a day's charges are above its credits. */
const END_OF_DAY = 'T~';

/** The lines of a month, newest first. */
export function ledgerLines(
  { charges, credits }: Month,
  show: 'credits' | 'charges' | undefined,
): LedgerLine[] {
  const lines: LedgerLine[] = [
    ...(show === 'credits'
      ? []
      : charges.map((day) => ({ id: day.date, sort: `${day.date}${END_OF_DAY}`, day }))),
    ...(show === 'charges'
      ? []
      : credits.map((credit) => ({ id: credit.id, sort: credit.createdAt, credit }))),
  ];
  return lines.sort((a, b) => (a.sort < b.sort ? 1 : -1));
}
