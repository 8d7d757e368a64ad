import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import {
  leaderboardInput,
  modelNameParams,
  modelWindowInput,
  updateModelInput,
} from '../../services/leaderboard/leaderboard.inputs.js';
import {
  leaderboardModelOutput,
  leaderboardOutput,
  leaderboardRowOutput,
} from '../../services/leaderboard/leaderboard.outputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import {
  Leaderboard,
  LeaderboardArgs,
  LeaderboardModel,
  LeaderboardModelArgs,
  LeaderboardRow,
  RecomputeLeaderboardPayload,
  UpdateModelInput,
  UpdateModelPayload,
} from './leaderboard.types.js';

/** An answer holds 168 hours. */
const HOURS_COST = 168;
/** A sketch has some hundred buckets. */
const SKETCHES_COST = 1_000;

/** How models did, over all accounts. */
@Resolver()
export class LeaderboardResolver {
  @Allow('public')
  @Query(() => Leaderboard, { description: leaderboardOutput.description ?? '', complexity: HOURS_COST })
  async leaderboard(
    @Args() args: LeaderboardArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<Leaderboard> {
    return camelCased(await services.leaderboard.list(service, checked(leaderboardInput, args)));
  }

  @Allow('public')
  @Query(() => LeaderboardModel, {
    nullable: true,
    description: leaderboardModelOutput.description ?? '',
    complexity: HOURS_COST,
  })
  async leaderboardModel(
    @Args() { name, ...args }: LeaderboardModelArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<LeaderboardModel> {
    const { name: checkedName } = checked(modelNameParams, { name });
    return camelCased(
      await services.leaderboard.model(service, checkedName, checked(modelWindowInput, args)),
    );
  }

  @Allow('public')
  @Query(() => LeaderboardRow, {
    nullable: true,
    description: leaderboardRowOutput.description ?? '',
    complexity: SKETCHES_COST,
  })
  async leaderboardRow(
    @Args() { name, ...args }: LeaderboardModelArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<LeaderboardRow> {
    const { name: checkedName } = checked(modelNameParams, { name });
    return camelCased(await services.leaderboard.row(service, checkedName, checked(modelWindowInput, args)));
  }

  @Allow('admin')
  @Mutation(() => RecomputeLeaderboardPayload, {
    description:
      'Rolls up all pending hours and the current one for the leaderboard. Requires an administrator.',
  })
  async recomputeLeaderboard(
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<RecomputeLeaderboardPayload> {
    return camelCased(await services.leaderboard.recompute(service));
  }

  @Allow('admin')
  @Mutation(() => UpdateModelPayload, {
    description: 'Changes whether a model is featured. Requires an administrator.',
  })
  async updateModel(
    @Arg('input', { description: 'The model and the changes.' }) { name, ...change }: UpdateModelInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UpdateModelPayload> {
    const { name: checkedName } = checked(modelNameParams, { name });
    return {
      model: camelCased(
        await services.leaderboard.updateModel(service, checkedName, checked(updateModelInput, change)),
      ),
    };
  }
}
