import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { requireViewer, type ServiceContext } from '../../context.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';
import { AppError } from '../../errors.js';
import { DAY_MS, monthStart, monthsBefore, utcDay, utcMonth } from '../../lib/clock.js';
import { formatMoney, parseMoney } from '../../lib/money.js';
import { costSince } from '../analytics/cost-since.store.js';
import { dirtyHoursOf } from '../analytics/dirty-hours-of-account.js';
import type { ServiceDeps } from '../deps.js';
import type { LedgerMonthInput } from './billing.inputs.js';
import { csvLine } from './csv.js';
import type { StatementOutput } from './statement.outputs.js';
import { statementOf } from './statement.rules.js';
import { chargedParts, creditsByDay, keyNames } from './statement.store.js';

/** A month of the viewer's account: credits, and charges by day, model and key. */
export function createStatementService({ config }: Pick<ServiceDeps, 'config'>) {
  /** @throws AppError `not_found` for a month that hasn't begun, or is older than the sums that are kept */
  const statement = async (
    context: ServiceContext,
    { month }: LedgerMonthInput,
  ): Promise<StatementOutput> => {
    const { accountId } = requireViewer(context);
    const nowMs = context.clock.now();
    const from = new Date(`${month}-01`);
    if (from.getTime() > nowMs) throw notFound('This month has not begun.');
    if (from < monthsBefore(nowMs, config.historyRetentionMonths)) {
      throw notFound(`Statements are kept for ${config.historyRetentionMonths} months.`);
    }
    const until = monthStart(from.getTime(), 1);
    const read = (em: EntityManager) => readStatement(em, { accountId, month, from, until });
    // Balance, charges and credits on one snapshot.
    return context.em.fork().transactional(read, {
      isolationLevel: IsolationLevel.REPEATABLE_READ,
      readOnly: true,
    });
  };

  return {
    statement,

    /**
     * The statement as CSV: a line for each day with charges and for each with credits, between the two balances.
     * @throws as `statement`
     */
    async statementCsv(context: ServiceContext, input: LedgerMonthInput): Promise<string> {
      const isOver = input.month < utcMonth(context.clock.now());
      return statementCsv(await statement(context, input), { isOver });
    },
  };
}

interface MonthOfAccount {
  accountId: string;
  month: string;
  from: Date;
  until: Date;
}

async function readStatement(
  em: EntityManager,
  { accountId, month, from, until }: MonthOfAccount,
): Promise<StatementOutput> {
  const account = await em.findOne(Account, { id: accountId }, { ...UNTRACKED, fields: ['balance'] });
  if (!account) throw new AppError('unauthorized');
  const dirty = await dirtyHoursOf({ em }, accountId);
  const parts = await chargedParts(em, { accountId, from, until, dirty });
  const credits = await creditsByDay(em, accountId, from);
  const keys = parts.flatMap(({ of, name }) => (of === 'key' && name !== null ? [name] : []));
  return statementOf({
    month,
    lastDay: utcDay(until.getTime() - DAY_MS),
    balance: parseMoney(account.balance),
    parts,
    chargesSince: parseMoney(await costSince(em, { accountId, from: until, dirty })),
    credits,
    keyNames: await keyNames(em, accountId, keys),
  });
}

const notFound = (message: string): AppError => new AppError('not_found', { message });

const HEAD = ['date', 'description', 'calls', 'amount_usd', 'balance_usd'] as const;

/**
 * A statement as CSV, oldest first. Each line ends with the balance after it; the credits of a day precede its
 * charges.
 * @param isOver Whether the month is over: until then the last balance isn't the closing one
 */
function statementCsv(statement: StatementOutput, { isOver }: { isOver: boolean }): string {
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
