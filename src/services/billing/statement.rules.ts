import { formatMoney, type Money, parseMoney } from '../../lib/money.js';
import type { StatementOutput } from './statement.outputs.js';

/** Charges of a month, for one day, model or key. Amounts are decimal strings in dollars. */
export interface ChargedPart {
  /** Kind of `name`; `all` is the sum of the month. */
  of: 'day' | 'model' | 'key' | 'all';
  /** Null for calls without a key. */
  name: string | null;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  charges: string;
}

interface StatementParts {
  month: string;
  /** The last UTC day of the month. */
  lastDay: string;
  /** Current balance of the account. */
  balance: Money;
  parts: readonly ChargedPart[];
  /** Of all later calls. */
  chargesSince: Money;
  /** Of the month and of all later days. */
  credits: readonly { day: string; credits: string }[];
  keyNames: ReadonlyMap<string, string>;
}

/**
 * Builds a statement. Balances are calculated backwards from the current one, through all later charges and credits.
 */
export function statementOf({
  month,
  lastDay,
  balance,
  parts,
  chargesSince,
  credits,
  keyNames,
}: StatementParts): StatementOutput {
  const sorted = Map.groupBy(parts, ({ of }) => of);
  const chargesOf = (of: ChargedPart['of']): Money => parseMoney(sorted.get(of)?.[0]?.charges ?? '0');
  const inside = credits.filter(({ day }) => day <= lastDay);
  const sum = (some: typeof credits): Money =>
    some.reduce((total, one) => total + parseMoney(one.credits), 0n);
  const closing = balance + chargesSince - (sum(credits) - sum(inside));
  const opening = closing + chargesOf('all') - sum(inside);
  return {
    month,
    opening_balance_usd: formatMoney(opening),
    credits_usd: formatMoney(sum(inside)),
    charges_usd: formatMoney(chargesOf('all')),
    closing_balance_usd: formatMoney(closing),
    by_day: days(sorted.get('day') ?? [], inside),
    by_model: dearestFirst(sorted.get('model') ?? []).map((part) => ({
      model_public_name: part.name!,
      calls: part.calls,
      input_tokens: part.input_tokens,
      output_tokens: part.output_tokens,
      charges_usd: formatMoney(parseMoney(part.charges)),
    })),
    by_key: dearestFirst(sorted.get('key') ?? []).map(({ name, calls, charges }) => ({
      key_id: name,
      name: name === null ? null : (keyNames.get(name) ?? null),
      calls,
      charges_usd: formatMoney(parseMoney(charges)),
    })),
  };
}

const NOTHING = { calls: 0, charges: '0' };

function days(
  charged: readonly ChargedPart[],
  credited: StatementParts['credits'],
): StatementOutput['by_day'] {
  const charges = new Map(charged.map((part) => [part.name!, part]));
  const credits = new Map(credited.map((one) => [one.day, one.credits]));
  const named = [...new Set([...charges.keys(), ...credits.keys()])].sort();
  return named.flatMap((date) => {
    const { calls, charges: cost } = charges.get(date) ?? NOTHING;
    const credit = credits.get(date);
    // A day with only failed calls has neither.
    if (calls === 0 && parseMoney(cost) === 0n && credit === undefined) return [];
    return [
      {
        date,
        calls,
        charges_usd: formatMoney(parseMoney(cost)),
        credits_usd: formatMoney(parseMoney(credit ?? '0')),
      },
    ];
  });
}

const dearestFirst = (parts: readonly ChargedPart[]): ChargedPart[] =>
  parts
    .filter(({ calls, charges }) => calls > 0 || parseMoney(charges) !== 0n)
    .toSorted((a, b) => {
      const difference = parseMoney(b.charges) - parseMoney(a.charges);
      return difference === 0n ? b.calls - a.calls : difference > 0n ? 1 : -1;
    });
