import { Arg, Args, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import {
  ledgerMonthInput,
  sequenceConnectionInput,
  topUpOnceInput,
  type UsageFilterInput,
  usageConnectionInput,
} from '../../services/billing/billing.inputs.js';
import {
  balanceOutput,
  ledgerMonthOutput,
  type UsageItemOutput,
  usageReceiptOutput,
} from '../../services/billing/billing.outputs.js';
import { Allow } from '../access.js';
import { Viewer } from '../accounts/accounts.types.js';
import { loadViewer } from '../accounts/viewer.js';
import { camelCased } from '../case.js';
import { type Connection, PageArgs, pageCost, toConnection } from '../connections.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import { ApiKey } from '../keys/keys.types.js';
import { descriptionOf } from '../zod-fields.js';
import { MonthArgs, TopUpInput, UsageArgs, UsageReceiptArgs } from './billing.args.js';
import {
  LedgerEntry,
  LedgerEntryConnection,
  LedgerMonth,
  Model,
  Plan,
  TopUpPayload,
  UsageEvent,
  UsageEventConnection,
  UsageReceipt,
  UsageTotals,
} from './billing.types.js';

/** Cost of a short list that is always returned in full. */
const catalogCost = ({ childComplexity }: { childComplexity: number }): number => 1 + 10 * childComplexity;

/** Cost per day of a search by model or status, which no index supports. */
const SEARCHED_DAY = 20;
const MAX_DAYS = 90;
/** A month of roll-ups, and up to 500 entries. */
const MONTH_COST = ({ childComplexity }: { childComplexity: number }): number => 100 + 20 * childComplexity;
/** They read the roll-ups of a window, as analytics do. */
const TOTALS_COST = 100;

/** Cost of a page of usage, and of the events that may be read to find it. */
const usageCost = ({
  args,
  childComplexity,
}: {
  args: Partial<UsageArgs>;
  childComplexity: number;
}): number => {
  const { model, status, windowDays } = args.filter ?? {};
  const isSearch = (model ?? status ?? null) !== null;
  const days = Math.min(Math.max(windowDays ?? MAX_DAYS, 1), MAX_DAYS);
  return pageCost({ args, childComplexity }) + (isSearch ? days * SEARCHED_DAY : 0);
};

/** Plans, models and top-up. */
@Resolver()
class BillingResolver {
  @Allow('public')
  @Query(() => [Plan], { description: 'All plans, cheapest first.', complexity: catalogCost })
  async plans(@Ctx() { services, service }: GraphqlContext): Promise<Plan[]> {
    return camelCased(await services.billing.plans(service));
  }

  @Allow('public')
  @Query(() => [Model], { description: 'All public models with their prices.', complexity: catalogCost })
  async models(@Ctx() { services, service }: GraphqlContext): Promise<Model[]> {
    return camelCased(await services.billing.models(service));
  }

  @Allow('session')
  @Mutation(() => TopUpPayload, {
    description:
      'Adds credit. This is a mock: no card is charged, and the balance changes immediately. Repeating a request with the same `idempotencyKey` and amount returns the original result without adding credit again.',
  })
  async topUp(
    @Arg('input', { description: 'Amount and optional idempotency key.' }) input: TopUpInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<TopUpPayload> {
    const { idempotency_key: idempotencyKey, ...rest } = checked(topUpOnceInput, input);
    return camelCased(await services.billing.topUp(service, { ...rest, idempotencyKey }));
  }
}

@Resolver(() => TopUpPayload)
class TopUpPayloadResolver {
  @FieldResolver(() => Viewer, { nullable: true, description: 'The account after the top-up.' })
  viewer(@Ctx() context: GraphqlContext): Promise<Viewer | null> {
    return loadViewer(context);
  }
}

/** Usage and ledger of the signed-in account. */
@Resolver(() => Viewer)
class ViewerBillingResolver {
  @FieldResolver(() => Int, {
    nullable: true,
    description: descriptionOf(balanceOutput.shape.monthly_quota_tokens),
  })
  async monthlyQuotaTokens(@Ctx() { services, service }: GraphqlContext): Promise<number | null> {
    return (await services.billing.balance(service)).monthly_quota_tokens;
  }

  @FieldResolver(() => UsageEventConnection, {
    description: 'Usage events, one per forwarded call. Prompts and responses are never stored.',
    complexity: usageCost,
  })
  async usageEvents(
    @Args() args: UsageArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UsagePage> {
    const input = checked(usageConnectionInput, args);
    const page = await services.billing.usagePage(service, input);
    return { ...toConnection(page, args, camelCased<UsageItemOutput>), filter: input.filter ?? {} };
  }

  @FieldResolver(() => UsageReceipt, { nullable: true, description: usageReceiptOutput.description })
  async usageReceipt(
    @Args() { id }: UsageReceiptArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UsageReceipt> {
    const receipt = camelCased(await services.billing.usageReceipt(service, id));
    return { ...receipt, event: receipt };
  }

  @FieldResolver(() => LedgerEntryConnection, {
    description: 'Ledger entries: top-ups, grants, charges and corrections.',
    complexity: pageCost,
  })
  async ledgerEntries(
    @Args() args: PageArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<Connection<LedgerEntry>> {
    const page = await services.billing.ledgerPage(service, checked(sequenceConnectionInput, args));
    return toConnection(page, args, camelCased);
  }

  @FieldResolver(() => LedgerMonth, { description: ledgerMonthOutput.description, complexity: MONTH_COST })
  async ledgerMonth(
    @Args() args: MonthArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<LedgerMonth> {
    return camelCased(await services.billing.ledgerMonth(service, checked(ledgerMonthInput, args)));
  }
}

/** A page with what its list was narrowed by. */
interface UsagePage extends Connection<UsageEvent> {
  filter: UsageFilterInput;
}

@Resolver(() => UsageEventConnection)
class UsageEventConnectionResolver {
  @FieldResolver(() => UsageTotals, {
    description: 'Totals of all events that match the filter, on every page.',
    complexity: TOTALS_COST,
  })
  async totals(
    @Root() { filter }: UsagePage,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UsageTotals> {
    return camelCased(await services.billing.usageTotals(service, filter));
  }

  @FieldResolver(() => Int, {
    description: 'Total number of usage events of the account, ignoring the filter.',
  })
  totalCount(@Ctx() { services, service }: GraphqlContext): Promise<number> {
    return services.billing.usageCount(service);
  }
}

@Resolver(() => LedgerEntryConnection)
class LedgerEntryConnectionResolver {
  @FieldResolver(() => Int, { description: 'Total number of ledger entries of the account.' })
  totalCount(@Ctx() { services, service }: GraphqlContext): Promise<number> {
    return services.billing.ledgerCount(service);
  }
}

/** Fields of a usage event that need a query. */
@Resolver(() => UsageEvent)
class UsageEventResolver {
  @FieldResolver(() => Model, {
    nullable: true,
    description: 'The model that served the call, or null if it is no longer offered.',
  })
  model(@Root() { modelPublicName }: UsageEvent, @Ctx() { loaders }: GraphqlContext): Promise<Model | null> {
    return loaders.models.load(modelPublicName);
  }

  @FieldResolver(() => ApiKey, { nullable: true, description: 'The API key, or null if it was deleted.' })
  async apiKey(@Root() { keyId }: UsageEvent, @Ctx() { loaders }: GraphqlContext): Promise<ApiKey | null> {
    return keyId === null ? null : loaders.keys.load(keyId);
  }
}

/** Fields of a ledger entry that need a query. */
@Resolver(() => LedgerEntry)
class LedgerEntryResolver {
  @FieldResolver(() => UsageEvent, { nullable: true, description: 'The usage event that was charged.' })
  usageEvent(
    @Root() { eventId, createdAt }: LedgerEntry,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<UsageEvent | null> {
    return loaders.usageOfCharges.load({ event_id: eventId, created_at: createdAt });
  }
}

/** Every resolver of the domain. */
export const billingResolvers = [
  BillingResolver,
  TopUpPayloadResolver,
  ViewerBillingResolver,
  UsageEventConnectionResolver,
  LedgerEntryConnectionResolver,
  UsageEventResolver,
  LedgerEntryResolver,
] as const;
