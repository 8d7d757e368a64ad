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

/** Each reads thousands of rows: it counts as many values, though it answers with few. */
const readingCost: ComplexityEstimator = ({ args, childComplexity }) =>
  100 + Math.min(Math.max(args.windowDays, 1), 90) + childComplexity;

/** What calls say about the versions of a prompt. */
@Resolver(() => Prompt)
export class PromptStatsResolver {
  @FieldResolver(() => PromptVersionStats, {
    nullable: true,
    description: 'Calls that named a version by the header `X-Gateway-Prompt-Version`.',
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
    description: 'The calls of two versions side by side.',
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
    description: 'What calls of the last days would have cost on another model.',
    complexity: readingCost,
  })
  async whatIf(@Args() args: WhatIfArgs, @Ctx() { services, service }: GraphqlContext): Promise<WhatIf> {
    return camelCased(await services.whatIf.estimate(service, checked(whatIfInput, args)));
  }
}
