import { csvLine } from '../../lib/csv.js';
import { formatMoney, parseMoney } from '../../lib/money.js';
import type { StatementOutput } from './statement.outputs.js';

const HEAD = ['date', 'description', 'calls', 'amount_usd', 'balance_usd'] as const;

/**
 * A statement as CSV, oldest first: each line with the balance behind it, credits of a day before its charges.
 * @param isOver Whether its month is over: until then the last balance isn't the closing one
 */
export function statementCsv(statement: StatementOutput, { isOver }: { isOver: boolean }): string {
  let balance = parseMoney(statement.opening_balance_usd);
  const line = (date: string, description: string, calls: number | null, amount: bigint): string => {
    balance += amount;
    return csvLine([date, description, calls, formatMoney(amount), formatMoney(balance)]);
  };
  const lines = statement.by_day.flatMap(({ date, calls, charges_usd, credits_usd }) => {
    const credits = parseMoney(credits_usd);
    const charges = parseMoney(charges_usd);
    return [
      ...(credits === 0n ? [] : [line(date, 'Credits', null, credits)]),
      ...(charges === 0n ? [] : [line(date, 'Charges for calls', calls, -charges)]),
    ];
  });
  const { month, opening_balance_usd: opening, closing_balance_usd: closing } = statement;
  return [
    csvLine(HEAD),
    csvLine([month, 'Opening balance', null, null, opening]),
    ...lines,
    csvLine([month, isOver ? 'Closing balance' : 'Balance so far', null, null, closing]),
  ].join('');
}
