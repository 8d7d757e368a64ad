import type { ComplexityEstimator } from 'graphql-query-complexity';
import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { whatIfInput } from '../../services/analytics/what-if.inputs.js';
import { compareVersionsInput, versionStatsInput } from '../../services/prompts/prompts.inputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import {
  ComparePromptVersionsArgs,
  PromptVersionComparison,
  PromptVersionStats,
  PromptVersionStatsArgs,
  WhatIf,
  WhatIfArgs,
} from './prompt-stats.types.js';
import { Prompt } from './prompts.types.js';

/** Each reads thousands of rows, so it costs more than its few values would: three of them fit into an operation. */
const readingCost: ComplexityEstimator = ({ args, childComplexity }) =>
  2_500 + Math.min(Math.max(args.windowDays, 1), 90) + childComplexity;

/** Call statistics of prompt versions. */
@Resolver(() => Prompt)
export class PromptStatsResolver {
  @FieldResolver(() => PromptVersionStats, {
    nullable: true,
    description: 'Statistics of calls that sent the version ID in the header `X-Gateway-Prompt-Version`.',
    complexity: readingCost,
  })
  async versionStats(
    @Root() { id }: Prompt,
    @Args() { versionId, ...args }: PromptVersionStatsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<PromptVersionStats> {
    const input = { ...checked(versionStatsInput, args), id, vid: versionId };
    return camelCased(await services.versionStats.ofVersion(service, input));
  }

  @FieldResolver(() => PromptVersionComparison, {
    nullable: true,
    description: 'Call statistics of two versions.',
    complexity: readingCost,
  })
  async comparison(
    @Root() { id }: Prompt,
    @Args() args: ComparePromptVersionsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<PromptVersionComparison> {
    const input = { ...checked(compareVersionsInput, args), id };
    return camelCased(await services.versionStats.compare(service, input));
  }
}

@Resolver(() => Viewer)
export class ViewerWhatIfResolver {
  @FieldResolver(() => WhatIf, {
    nullable: true,
    description: 'What recent calls would have cost on another model.',
    complexity: readingCost,
  })
  async whatIf(@Args() args: WhatIfArgs, @Ctx() { services, service }: GraphqlContext): Promise<WhatIf> {
    return camelCased(await services.whatIf.estimate(service, checked(whatIfInput, args)));
  }
}
