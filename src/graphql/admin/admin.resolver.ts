import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { adjustCreditInput, listActionsInput } from '../../services/admin/admin.inputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked, given } from '../input.js';
import {
  AdjustCreditInput,
  AdjustCreditPayload,
  AdminAction,
  AdminActionsArgs,
  RoutedModel,
  ScheduledJob,
} from './admin.types.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

/** What administrators do to run the installation. */
@Resolver()
export class AdminResolver {
  @Allow('admin')
  @Query(() => [AdminAction], {
    description: 'The audit log of administrators, newest first. Requires an administrator.',
    complexity: ({ args, childComplexity }) =>
      1 + Math.min(Math.max(args.limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT) * childComplexity,
  })
  async adminActions(
    @Args() args: AdminActionsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<AdminAction[]> {
    return camelCased(await services.admin.actions(service, checked(listActionsInput, given(args))));
  }

  @Allow('admin')
  @Query(() => [ScheduledJob], {
    description: 'Scheduled jobs with their last and next runs. Requires an administrator.',
  })
  async scheduledJobs(@Ctx() { services, service }: GraphqlContext): Promise<ScheduledJob[]> {
    return camelCased(await services.admin.jobs(service));
  }

  @Allow('admin')
  @Query(() => [RoutedModel], {
    description: 'Routing as one model proxy sees it, by model. Requires an administrator.',
  })
  async routing(@Ctx() { services, service }: GraphqlContext): Promise<RoutedModel[]> {
    return camelCased(await services.admin.routing(service));
  }

  @Allow('admin')
  @Mutation(() => AdjustCreditPayload, {
    description:
      'Adjusts the balance of an account by a ledger entry with a reason. Requires an administrator.',
  })
  async adjustCredit(
    @Arg('input', { description: 'Account, amount and reason.' }) { id, ...input }: AdjustCreditInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<AdjustCreditPayload> {
    return {
      adjustment: camelCased(
        await services.admin.adjustCredit(service, id, checked(adjustCreditInput, input)),
      ),
    };
  }
}
