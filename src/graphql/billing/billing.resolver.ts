import { Int } from 'type-graphql';
import { z } from 'zod';
import {
  ledgerMonthInput,
  sequenceConnectionInput,
  topUpOnceInput,
  type UsageFilterInput,
  usageConnectionInput,
  usageFilterInput,
  usageParams,
} from '../../services/billing/billing.inputs.js';
import {
  balanceOutput,
  billingConfigOutput,
  ledgerMonthOutput,
  usageReceiptOutput,
} from '../../services/billing/billing.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased, toGraphql } from '../case.js';
import { type Connection, connectionArgs, costOfPage, pageCost, toConnection } from '../connections.js';
import type { GraphqlContext } from '../context.js';
import { field, mutation, query, subscription } from '../fields.js';
import { checked } from '../input.js';
import { ApiKey } from '../keys/keys.types.js';
import { descriptionOf, inputType } from '../zod-fields.js';
import {
  BillingConfig,
  LedgerEntry,
  LedgerEntryConnection,
  LedgerMonth,
  Model,
  Plan,
  TopUpPayload,
  UsageEvent,
  UsageEventConnection,
  UsageReceipt,
  UsageStatus,
  UsageTotals,
} from './billing.types.js';

/** Cost of a short list that is always returned in full. */
const catalogCost = ({ childComplexity }: { childComplexity: number }): number => 1 + 10 * childComplexity;

/** Cost per day of a search by model or status, which no index supports. */
const SEARCHED_DAY = 20;
const MAX_DAYS = 90;
/** A month of roll-ups and up to 500 entries. */
const MONTH_COST = ({ childComplexity }: { childComplexity: number }): number => 100 + 20 * childComplexity;
/** The totals of a page read the roll-ups of a window once, as analytics do. */
const TOTALS_COST = 100;

const UsageFilter = inputType(
  'UsageFilterInput',
  usageFilterInput.describe('Filter for usage events. Omitted fields match every event.'),
  { status: UsageStatus },
);
const usageArgs = connectionArgs.extend({
  before: z
    .string()
    .nullish()
    .describe('Cursor of the entry before which the page ends. Use it instead of `after`.'),
  filter: usageFilterInput.nullish().describe('Filter; without it, all events are returned.'),
});

/** Cost of a page of usage with its totals, and of the events that may have to be read to find it. */
const usageCost = ({
  args,
  childComplexity,
}: {
  args: { first?: number; filter?: Partial<InstanceType<typeof UsageFilter>> | null };
  childComplexity: number;
}): number => {
  const { model, status, windowDays } = args.filter ?? {};
  const isSearch = (model ?? status ?? null) !== null;
  const days = Math.min(Math.max(windowDays ?? MAX_DAYS, 1), MAX_DAYS);
  return pageCost({ args, childComplexity }) + TOTALS_COST + (isSearch ? days * SEARCHED_DAY : 0);
};

const catalogAndTopUp = [
  query('plans', 'public', [Plan], {
    description: 'All plans, cheapest first.',
    complexity: catalogCost,
    run: ({ services, service }) => toGraphql(services.billing.plans(service)),
  }),
  query('models', 'public', [Model], {
    description: 'All public models with their prices.',
    complexity: catalogCost,
    run: ({ services, service }) => toGraphql(services.billing.models(service)),
  }),
  query('billingConfig', 'public', BillingConfig, {
    description: billingConfigOutput.meta()!.description!,
    run: ({ services }) => camelCased(services.billing.config()),
  }),
  mutation('topUp', 'session', {
    description:
      'Adds credit. This is a mock: no card is charged, and the balance changes immediately. Where top-ups are off, as they are in production by default, it fails with `topup_disabled`. Repeating a request with the same `idempotencyKey` and amount returns the original balance, with the present plan, without adding credit again.',
    input: topUpOnceInput.describe('A top-up.'),
    inputTypes: { amountUsd: Int },
    argument: 'Amount and optional idempotency key.',
    payload: TopUpPayload,
    run: async ({ services, service }, input) => {
      const { idempotency_key: idempotencyKey, ...rest } = checked(topUpOnceInput, input);
      return camelCased(await services.billing.topUp(service, { ...rest, idempotencyKey }));
    },
  }),
  field(TopUpPayload, 'viewer', Viewer, {
    nullable: true,
    description: 'The account after the top-up.',
    run: ({ service, loaders }) => loaders.users.load(service.viewer!.accountId),
  }),
];

/** A page with the filter of its list. */
interface UsagePage extends Connection<InstanceType<typeof UsageEvent>> {
  filter: UsageFilterInput;
  summed?: ReturnType<GraphqlContext['services']['billing']['usageTotals']>;
}

const usage = [
  field(Viewer, 'usageEvents', UsageEventConnection, {
    description: 'Usage events, one per forwarded call. Prompts and responses are never stored.',
    complexity: usageCost,
    args: usageArgs,
    argTypes: { filter: UsageFilter },
    run: async ({ services, service }, args): Promise<UsagePage> => {
      const input = checked(usageConnectionInput, args);
      const page = await services.billing.usagePage(service, input);
      return { ...(await toConnection(page, args)), filter: input.filter ?? {} };
    },
  }),
  field(UsageEventConnection, 'totals', UsageTotals, {
    description: 'Totals of all events that match the filter, on every page.',
    complexity: costOfPage,
    run: ({ services, service }, _args, source) => {
      const page = source as UsagePage;
      page.summed ??= services.billing.usageTotals(service, page.filter);
      return toGraphql(page.summed);
    },
  }),
  field(UsageEventConnection, 'totalCount', Int, {
    description: 'Total number of usage events of the account, ignoring the filter.',
    run: ({ services, service }) => services.billing.usageCount(service),
  }),
  field(Viewer, 'usageReceipt', UsageReceipt, {
    nullable: true,
    description: usageReceiptOutput.description,
    args: usageParams,
    run: async ({ services, service }, { id }) => {
      const receipt = camelCased(await services.billing.usageReceipt(service, id));
      return { ...receipt, event: receipt };
    },
  }),
  field(UsageEvent, 'model', Model, {
    nullable: true,
    description: 'The model that served the call, or null if it is no longer offered.',
    run: ({ loaders }, _args, { modelPublicName }) => loaders.models.load(modelPublicName),
  }),
  field(UsageEvent, 'apiKey', ApiKey, {
    nullable: true,
    description: 'The API key, or null if it was deleted.',
    run: async ({ loaders }, _args, { keyId }) => (keyId === null ? null : loaders.keys.load(keyId)),
  }),
  subscription('usageRecorded', 'session', UsageEvent, {
    description:
      'New usage events of the account as they are charged, each exactly once. Requires a session.',
    subscribe: ({ services, service }) => services.usageFeed.usageRecorded(service),
  }),
];

const ledger = [
  field(Viewer, 'monthlyQuotaTokens', Int, {
    nullable: true,
    description: descriptionOf(balanceOutput.shape.monthly_quota_tokens),
    run: async ({ services, service }) => (await services.billing.balance(service)).monthly_quota_tokens,
  }),
  field(Viewer, 'ledgerEntries', LedgerEntryConnection, {
    description: 'Ledger entries: top-ups, grants, charges and corrections.',
    complexity: pageCost,
    args: connectionArgs,
    run: ({ services, service }, args) =>
      toConnection(services.billing.ledgerPage(service, checked(sequenceConnectionInput, args)), args),
  }),
  field(Viewer, 'ledgerMonth', LedgerMonth, {
    description: ledgerMonthOutput.description,
    complexity: MONTH_COST,
    args: ledgerMonthInput,
    run: ({ services, service }, args) =>
      toGraphql(services.billing.ledgerMonth(service, checked(ledgerMonthInput, args))),
  }),
  field(LedgerEntryConnection, 'totalCount', Int, {
    description: 'Total number of ledger entries of the account.',
    run: ({ services, service }) => services.billing.ledgerCount(service),
  }),
  field(LedgerEntry, 'usageEvent', UsageEvent, {
    nullable: true,
    description: 'The usage event that was charged.',
    run: ({ loaders }, _args, { eventId, createdAt }) =>
      loaders.usageOfCharges.load({ event_id: eventId, created_at: createdAt }),
  }),
];

/** Plans, models, top-up, usage and ledger. */
export const billingResolvers = [...catalogAndTopUp, ...usage, ...ledger];
