import { Args, Ctx, FieldResolver, Resolver } from 'type-graphql';
import { modelWindowInput } from '../../services/leaderboard/leaderboard.inputs.js';
import { leaderboardMixOutput } from '../../services/leaderboard/mix.outputs.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import { LeaderboardMix, LeaderboardMixArgs } from './mix.types.js';

/** It reads up to 30 days of the account's roll-ups. */
const READING = 200;

@Resolver(() => Viewer)
export class ViewerLeaderboardResolver {
  @FieldResolver(() => LeaderboardMix, {
    description: leaderboardMixOutput.description ?? '',
    complexity: ({ childComplexity }) => READING + childComplexity,
  })
  async leaderboardMix(
    @Args() args: LeaderboardMixArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<LeaderboardMix> {
    return camelCased(await services.leaderboardMix.mix(service, checked(modelWindowInput, args)));
  }
}
