import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Config } from '../../config.js';
import { requireViewer, type ServiceContext } from '../../context.js';
import { notifyInvalidation } from '../../db/invalidation.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';
import { Model } from '../../entities/billing/model.js';
import { Plan } from '../../entities/billing/plan.js';
import { AppError } from '../../errors.js';
import { DAY_MS, dayStart, monthStart } from '../../lib/clock.js';
import type { ConnectionPage, SequenceConnectionInput } from '../../lib/connection-input.js';
import { DOLLAR, formatDecimal, formatMoney, type Money } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import { requireActing } from '../accounts/acting.js';
import { costSince } from '../analytics/cost-since.store.js';
import { dirtyHoursOf } from '../analytics/dirty-hours-of-account.js';
import { sumUsage } from '../analytics/usage-sums.store.js';
import { idOf, notFound } from '../not-found.js';
import type { RejectedCallOutput } from '../refusals/refusals.outputs.js';
import { rejectedCall } from '../refusals/rejected-call.js';
import { usageKeptFrom } from '../retention/usage-retention.store.js';
import {
  type LedgerExportInput,
  type LedgerMonthInput,
  TOP_UP_AMOUNTS,
  type TopUpInput,
  type UsageConnectionInput,
  type UsageFilterInput,
} from './billing.inputs.js';
import type {
  BalanceOutput,
  BillingConfigOutput,
  LedgerEntryOutput,
  LedgerMonthOutput,
  ModelOutput,
  PlanOutput,
  UsageItemOutput,
  UsageOutput,
  UsageReceiptOutput,
  UsageTotalsOutput,
} from './billing.outputs.js';
import { exportLedger, exportUsage } from './csv-exports.js';
import { findEntryByKey, postLedgerEntry } from './ledger.store.js';
import { countLedger, listLedger, pageLedger } from './ledger-list.store.js';
import { ledgerBetween } from './ledger-month.store.js';
import { grantMonthlyCredits } from './monthly-grants.js';
import { countUsage, findUsage, listUsage } from './usage.store.js';
import { selectsAll, usageSelection } from './usage-filter.rules.js';
import { findReceipt } from './usage-receipt.store.js';
import { pageUsage } from './usage-rows.store.js';

const ONE_SNAPSHOT = { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true } as const;

/**
 * Balance, top-up, ledger, usage, plans and models.
 * @param topUp Off unless given: a mock top-up is free credit.
 */
export function createBillingService(topUp: Config['topUp'] = 'off') {
  return {
    /** How credit can be added. Public. */
    config: (): BillingConfigOutput => ({
      provider: topUp,
      amounts_usd: [...TOP_UP_AMOUNTS],
      auto_topup: false,
    }),

    /** The viewer's balance and plan. */
    async balance(context: ServiceContext): Promise<BalanceOutput> {
      const { accountId } = requireViewer(context);
      const account = await readAccount(context.em, accountId);
      return balanceOutputOf(account.balance, account.planId);
    },

    /**
     * Adds credit to the viewer's balance; no card is charged. A repeated `idempotencyKey` returns the balance of the
     * first top-up and changes nothing.
     * @throws AppError `topup_disabled`, `idempotency_conflict` when the key was used with another amount, `unauthorized`
     */
    async topUp(context: ServiceContext, input: TopUpInput): Promise<BalanceOutput> {
      const viewer = requireViewer(context);
      if (topUp === 'off') throw new AppError('topup_disabled');
      const { accountId } = viewer;
      const balance = await context.em.transactional(async (em) => {
        await requireActing(em, viewer);
        return postTopUp(em, accountId, input, context.clock.now());
      });
      const account = await readAccount(context.em, accountId);
      return balanceOutputOf(formatMoney(balance), account.planId);
    },

    /** The viewer's ledger, newest first. */
    async ledger(context: ServiceContext, page: PageInput): Promise<LedgerEntryOutput[]> {
      return listLedger(context.em, requireViewer(context).accountId, page);
    },

    /** The viewer's usage, newest first. */
    async usage(context: ServiceContext, page: PageInput): Promise<UsageOutput> {
      const { accountId } = requireViewer(context);
      const { items, total } = await context.em
        .fork()
        .transactional((em) => listUsage(em, accountId, page), ONE_SNAPSHOT);
      return { items, total, limit: page.limit, offset: page.offset };
    },

    /** The viewer's usage that matches a filter, as CSV, newest first, in pieces. */
    async usageCsv(context: ServiceContext, filter: UsageFilterInput = {}): Promise<AsyncIterable<string>> {
      const { accountId } = requireViewer(context);
      return exportUsage(context.em, accountId, usageSelection(filter, context.clock.now()));
    },

    /** A page of the viewer's ledger by cursor. */
    async ledgerPage(
      context: ServiceContext,
      input: SequenceConnectionInput,
    ): Promise<ConnectionPage<LedgerEntryOutput>> {
      return pageLedger(context.em, requireViewer(context).accountId, input);
    },

    /** A UTC month of the viewer's ledger, with the charges of each day as one entry. */
    async ledgerMonth(context: ServiceContext, { month }: LedgerMonthInput): Promise<LedgerMonthOutput> {
      const { accountId } = requireViewer(context);
      const from = new Date(`${month}-01`);
      return context.em
        .fork()
        .transactional(
          (em) => ledgerBetween(em, accountId, { from, until: monthStart(from.getTime(), 1) }),
          ONE_SNAPSHOT,
        );
    },

    /** The viewer's ledger as CSV, newest first, in pieces. */
    async ledgerCsv(context: ServiceContext, input: LedgerExportInput): Promise<AsyncIterable<string>> {
      return exportLedger(context.em, requireViewer(context).accountId, input);
    },

    /** The number of entries in the viewer's ledger. */
    async ledgerCount(context: ServiceContext): Promise<number> {
      return countLedger(context.em, requireViewer(context).accountId);
    },

    /** A page of the viewer's usage by cursor. */
    async usagePage(
      context: ServiceContext,
      { filter, ...page }: UsageConnectionInput,
    ): Promise<ConnectionPage<UsageItemOutput>> {
      const selection = usageSelection(filter ?? {}, context.clock.now());
      return pageUsage(context.em, requireViewer(context).accountId, { ...page, selection });
    },

    /** Number and cost of the usage events that match a filter. */
    async usageTotals(context: ServiceContext, filter: UsageFilterInput): Promise<UsageTotalsOutput> {
      const { accountId } = requireViewer(context);
      const now = context.clock.now();
      const selection = usageSelection(filter, now);
      if (selectsAll(selection)) return totalsOfAll(context, accountId);
      const { keyId, from, until, ...narrowed } = selection;
      const scope = {
        accountId,
        keyIds: keyId === undefined ? undefined : [keyId],
        from: from ?? new Date(0),
        until: until ?? new Date(dayStart(now) + DAY_MS),
        dirty: await dirtyHoursOf(context, accountId),
      };
      const { calls, cost } = await sumUsage(context.em, scope, narrowed);
      return { calls, cost_usd: formatDecimal(cost) };
    },

    /**
     * One call with the prices of its time and its charge.
     * @throws AppError `not_found`, also for another account's call and for a malformed id.
     */
    async usageReceipt(context: ServiceContext, id: string): Promise<UsageReceiptOutput> {
      const { accountId } = requireViewer(context);
      const found = await findReceipt(context.em, accountId, idOf(id, 'call'));
      if (!found) throw notFound('call');
      return found;
    },

    /**
     * One call by its id: its receipt, or why it was rejected.
     * @throws AppError `not_found`, also for another account's call and for a malformed id.
     */
    async call(context: ServiceContext, id: string): Promise<UsageReceiptOutput | RejectedCallOutput> {
      const { accountId } = requireViewer(context);
      return (await findReceipt(context.em, accountId, idOf(id, 'call'))) ?? rejectedCall(context, id);
    },

    /** The number of the viewer's usage events. */
    async usageCount(context: ServiceContext): Promise<number> {
      return countUsage(context.em, requireViewer(context).accountId);
    },

    /** The usage events of charges in the viewer's ledger, by event id. */
    async usageOfCharges(
      context: ServiceContext,
      charges: readonly Pick<LedgerEntryOutput, 'event_id' | 'created_at'>[],
    ): Promise<Map<string, UsageItemOutput>> {
      const { accountId } = requireViewer(context);
      const events = charges.flatMap(({ event_id, created_at }) =>
        event_id === null ? [] : [{ id: event_id, completedMs: Date.parse(created_at) }],
      );
      const found = await findUsage(context.em, accountId, events);
      return new Map(found.map((event) => [event.id, event]));
    },

    /** Every plan, cheapest first. Public. */
    async plans(context: ServiceContext): Promise<PlanOutput[]> {
      const plans = await context.em.find(Plan, {}, { orderBy: { position: 'asc' } });
      return plans.map((plan) => ({
        name: plan.id,
        monthly_price_usd: formatDecimal(plan.monthlyPriceUsd),
        included_credits_usd: formatDecimal(plan.includedCreditsUsd),
        allowed_models: plan.allowedModels,
        requests_per_minute: plan.requestsPerMinute,
      }));
    },

    /** Every model with its prices, never the upstream's model id. Public. */
    async models(context: ServiceContext): Promise<ModelOutput[]> {
      const models = await context.em.find(Model, {}, { orderBy: { position: 'asc' } });
      return models.map((model) => ({
        model_public_name: model.publicName,
        family: model.family,
        context_window: model.contextWindow,
        input_price_per_million_usd: formatDecimal(model.inputPricePerMillionUsd),
        output_price_per_million_usd: formatDecimal(model.outputPricePerMillionUsd),
        is_featured: model.isFeatured,
      }));
    },

    grantMonthlyCredits,
  };
}

/** @returns the balance after the top-up, or after the first one with the same idempotency key. */
async function postTopUp(
  em: EntityManager,
  accountId: string,
  input: TopUpInput,
  now: number,
): Promise<Money> {
  const amount = BigInt(input.amount_usd) * DOLLAR;
  const idempotencyKey = input.idempotencyKey === undefined ? undefined : `topup:${input.idempotencyKey}`;
  const entry = { accountId, kind: 'topup', amount, description: 'Top-up', now } as const;
  const posted = await postLedgerEntry(em, { ...entry, idempotencyKey });
  if (posted !== 'duplicate') {
    await notifyInvalidation(em, { kind: 'account', id: accountId });
    return posted.balanceAfter;
  }
  const first = await findEntryByKey(em, accountId, idempotencyKey!);
  if (first?.amount !== amount) throw new AppError('idempotency_conflict');
  return first.balanceAfter;
}

/** Totals of the whole list: years of roll-ups are too many for one response. */
async function totalsOfAll(context: ServiceContext, accountId: string): Promise<UsageTotalsOutput> {
  const read = async (em: EntityManager) => {
    const from = (await usageKeptFrom(em)) ?? new Date(0);
    const cost = await costSince(em, { accountId, from, dirty: await dirtyHoursOf({ em }, accountId) });
    return { calls: await countUsage(em, accountId), cost_usd: formatDecimal(cost) };
  };
  return context.em.fork().transactional(read, ONE_SNAPSHOT);
}

async function readAccount(
  em: EntityManager,
  accountId: string,
): Promise<{ balance: string; planId: string }> {
  const account = await em.findOne(
    Account,
    { id: accountId },
    { ...UNTRACKED, fields: ['balance', 'planId'] },
  );
  if (!account) throw new AppError('unauthorized');
  return account;
}

function balanceOutputOf(balance: string, planName: string): BalanceOutput {
  return { balance_usd: formatDecimal(balance), plan_name: planName, monthly_quota_tokens: null };
}
