import type { ComplexityEstimator } from 'graphql-query-complexity';
import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { analyticsInput, usageSeriesInput } from '../../services/analytics/analytics.inputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import { ApiKey } from '../keys/keys.types.js';
import { Analytics, AnalyticsArgs, UsageSeriesArgs, UsageSeriesPoint } from './analytics.types.js';

/** Each reads thousands of rows: it counts as many values, though it answers with few. */
const READING = 100;
const analyticsCost: ComplexityEstimator = ({ args, childComplexity }) =>
  READING + Math.min(Math.max(args.windowDays, 1), 90) + childComplexity;

@Resolver(() => Viewer)
class ViewerAnalyticsResolver {
  @FieldResolver(() => Analytics, {
    description: 'Usage analytics for the account.',
    complexity: analyticsCost,
  })
  async analytics(
    @Args() args: AnalyticsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<Analytics> {
    return camelCased(await services.analytics.ofAccount(service, checked(analyticsInput, args)));
  }

  @FieldResolver(() => [UsageSeriesPoint], {
    description:
      'Calls per model and hour or day of a time zone, oldest first. Intervals without calls are left out.',
    complexity: analyticsCost,
  })
  async usageSeries(
    @Args() args: UsageSeriesArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UsageSeriesPoint[]> {
    return camelCased(await services.analytics.series(service, checked(usageSeriesInput, args)));
  }
}

@Resolver(() => ApiKey)
class ApiKeyAnalyticsResolver {
  @FieldResolver(() => Analytics, {
    nullable: true,
    description: 'Usage analytics for the key, or null if the key was deleted.',
    complexity: analyticsCost,
  })
  async analytics(
    @Root() { id }: ApiKey,
    @Args() args: AnalyticsArgs,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<Analytics | null> {
    return camelCased(await loaders.keyAnalytics.load({ id, window: checked(analyticsInput, args) }));
  }
}

/** Every resolver of the domain. */
export const analyticsResolvers = [ViewerAnalyticsResolver, ApiKeyAnalyticsResolver] as const;
