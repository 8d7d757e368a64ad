import { madeOnce } from '../../ui/made-once';

/** Search parameters of the billing page. */
export interface BillingSearch {
  /** UTC month of the ledger, `2026-11`; absent: the current one. */
  month?: string;
  show?: 'credits' | 'charges';
}

/** A UTC month: `2026-11`. */
export const MONTH = /^20\d\d-(?:0[1-9]|1[0-2])$/;

/** Reads the search parameters; drops invalid ones. */
export const billingSearch = ({ month, show }: Record<string, unknown>): BillingSearch => ({
  ...(typeof month === 'string' && MONTH.test(month) && { month }),
  ...((show === 'credits' || show === 'charges') && { show }),
});

/** The UTC month of a time in milliseconds. */
export const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);

/** The month that is `months` later. */
export const monthAfter = (month: string, months: number): string =>
  monthOf(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)) - 1 + months, 1));

const names = madeOnce(
  () => new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }),
);
/** `November 2026` */
export const monthName = (month: string): string => names().format(new Date(`${month}-01`));
