import type { ComplexityEstimator } from 'graphql-query-complexity';
import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { analyticsInput } from '../../services/analytics/analytics.inputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { AnalyticsArgs } from '../analytics/analytics.types.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import { ApiKey } from '../keys/keys.types.js';
import { RefusalHour, RefusedCalls } from './refusals.types.js';

/** Up to 100 reasons, summed from the hours of a window. */
const refusalsCost: ComplexityEstimator = ({ args, childComplexity }) =>
  50 + Math.min(Math.max(args.windowDays, 1), 90) + childComplexity;

@Resolver(() => Viewer)
export class ViewerRefusalsResolver {
  @FieldResolver(() => RefusedCalls, {
    description: 'Recently rejected calls of the account, and how to fix them.',
    complexity: refusalsCost,
  })
  async refusedCalls(
    @Args() args: AnalyticsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<RefusedCalls> {
    return camelCased(await services.refusals.ofAccount(service, checked(analyticsInput, args)));
  }

  @FieldResolver(() => [RefusalHour], {
    description: 'Rejected calls of the account by hour, latest first; at most 5,000.',
    complexity: ({ args, childComplexity }) =>
      Math.min(Math.max(args.windowDays, 1), 90) * (5 + childComplexity),
  })
  async refusals(
    @Args() args: AnalyticsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<RefusalHour[]> {
    return camelCased(await services.refusals.byHour(service, checked(analyticsInput, args)));
  }
}

@Resolver(() => ApiKey)
export class ApiKeyRefusalsResolver {
  @FieldResolver(() => RefusedCalls, {
    nullable: true,
    description: 'Recently rejected calls with the key; null if the key was deleted.',
    complexity: refusalsCost,
  })
  async refusedCalls(
    @Root() { id }: ApiKey,
    @Args() args: AnalyticsArgs,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<RefusedCalls | null> {
    return camelCased(await loaders.keyRefusals.load({ id, window: checked(analyticsInput, args) }));
  }
}
