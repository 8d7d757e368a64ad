import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { requireViewer, type ServiceContext } from '../../context.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';
import { AppError } from '../../errors.js';
import { DAY_MS, monthStart, monthsBefore, utcDay, utcMonth } from '../../lib/clock.js';
import { parseMoney } from '../../lib/money.js';
import { costSince } from '../analytics/cost-since.store.js';
import type { ServiceDeps } from '../deps.js';
import type { LedgerMonthInput } from './billing.inputs.js';
import type { StatementOutput } from './statement.outputs.js';
import { statementOf } from './statement.rules.js';
import { chargedParts, creditsByDay, keyNames } from './statement.store.js';
import { statementCsv } from './statement-csv.js';

/** A month of the viewer's account: what came in, what calls cost, and by what. */
export function createStatementService({ config }: Pick<ServiceDeps, 'config'>) {
  /** @throws AppError `not_found` for a month that hasn't begun, or whose sums are no longer kept */
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
    // On one snapshot: balance, charges and credits of one instant.
    return context.em.fork().transactional(read, {
      isolationLevel: IsolationLevel.REPEATABLE_READ,
      readOnly: true,
    });
  };

  return {
    statement,

    /** The same as CSV: a line for each day with charges and with credits, between the two balances. @throws as `statement` */
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
  const parts = await chargedParts(em, { accountId, from, until });
  const credits = await creditsByDay(em, accountId, from);
  const keys = parts.flatMap(({ of, name }) => (of === 'key' && name !== null ? [name] : []));
  return statementOf({
    month,
    lastDay: utcDay(until.getTime() - DAY_MS),
    balance: parseMoney(account.balance),
    parts,
    chargesSince: parseMoney(await costSince(em, accountId, until)),
    credits,
    keyNames: await keyNames(em, accountId, keys),
  });
}

const notFound = (message: string): AppError => new AppError('not_found', { message });
