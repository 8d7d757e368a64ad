import { DAY_MS } from '../../lib/clock.js';
import { DOLLAR, formatMoney, type Money } from '../../lib/money.js';
import type { BalanceState, OutlookOutput } from './outlook.outputs.js';

/** The balance below which calls are refused. */
const FLOOR: Money = DOLLAR / 1_000n;
/** A balance is low below this share of the last credit, or below a dollar if there was no credit. */
const LOW_SHARE = 5n;
const LOW_DAYS = 3;
/** Longest outlook. */
const MOST_DAYS = 365;

export interface OutlookFacts {
  balance: Money;
  lastCredit: Money | null;
  /** What calls have cost since `sinceMs`, up to `nowMs`. */
  spent: Money;
  sinceMs: number;
  nowMs: number;
}

/** How long a balance lasts. Less than a day of calls counts as a day. */
export function outlookOf({ balance, lastCredit, spent, sinceMs, nowMs }: OutlookFacts): OutlookOutput {
  const elapsedMs = BigInt(Math.max(DAY_MS, nowMs - sinceMs));
  const perDay = (spent * BigInt(DAY_MS)) / elapsedMs;
  const daysLeft = perDay > 0n && balance > 0n ? Number((balance * 10n) / perDay) / 10 : null;
  return {
    state: stateOf(balance, lastCredit, daysLeft),
    balance_usd: formatMoney(balance),
    last_credit_usd: lastCredit === null ? null : formatMoney(lastCredit),
    daily_spend_usd: formatMoney(perDay),
    days_left: daysLeft === null || daysLeft > MOST_DAYS ? null : daysLeft,
  };
}

function stateOf(balance: Money, lastCredit: Money | null, daysLeft: number | null): BalanceState {
  if (balance < FLOOR) return 'stopped';
  const lowBelow = lastCredit === null ? DOLLAR : lastCredit / LOW_SHARE;
  return balance < lowBelow || (daysLeft !== null && daysLeft < LOW_DAYS) ? 'low' : 'fine';
}
