import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import {
  type UpdateUserInput,
  updateUserInput,
  usersConnectionInput,
} from '../../services/accounts/accounts.inputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import { type Connection, pageCost, toConnection } from '../connections.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import {
  DisableUserInput,
  EnableUserInput,
  SetUserPlanInput,
  SetUserRoleInput,
  UserArgs,
  UsersArgs,
} from './accounts.args.js';
import {
  DisableUserPayload,
  EnableUserPayload,
  SetUserPlanPayload,
  SetUserRolePayload,
  User,
  UserConnection,
} from './accounts.types.js';

async function updated(
  { services, service }: GraphqlContext,
  id: string,
  change: UpdateUserInput,
): Promise<{ user: User }> {
  return {
    user: camelCased(await services.accounts.updateUser(service, id, checked(updateUserInput, change))),
  };
}

/** What administrators do with accounts. */
@Resolver()
export class UsersResolver {
  @Allow('admin')
  @Query(() => UserConnection, {
    description: "All accounts that aren't deleted. Requires an administrator.",
    complexity: pageCost,
  })
  async users(
    @Args() args: UsersArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<Connection<User>> {
    const page = await services.accounts.usersPage(service, checked(usersConnectionInput, args));
    return toConnection(page, args, camelCased);
  }

  @Allow('admin')
  @Query(() => User, { nullable: true, description: 'An account. Requires an administrator.' })
  async user(@Args() { id }: UserArgs, @Ctx() { services, service }: GraphqlContext): Promise<User> {
    return camelCased(await services.accounts.getUser(service, id));
  }

  @Allow('admin')
  @Mutation(() => SetUserPlanPayload, {
    description:
      'Moves an account to another plan. A paid plan grants its included credits once per month. Requires an administrator.',
  })
  setUserPlan(
    @Arg('input', { description: 'Account and plan.' }) { id, plan, expectedPlan }: SetUserPlanInput,
    @Ctx() context: GraphqlContext,
  ): Promise<SetUserPlanPayload> {
    return updated(context, id, { plan, ...(expectedPlan != null && { expected_plan: expectedPlan }) });
  }

  @Allow('admin')
  @Mutation(() => SetUserRolePayload, {
    description: 'Changes the role of an account and ends its sessions. Requires an administrator.',
  })
  setUserRole(
    @Arg('input', { description: 'Account and role.' }) { id, role }: SetUserRoleInput,
    @Ctx() context: GraphqlContext,
  ): Promise<SetUserRolePayload> {
    return updated(context, id, { role });
  }

  @Allow('admin')
  @Mutation(() => EnableUserPayload, {
    description: 'Enables a disabled account. Requires an administrator.',
  })
  enableUser(
    @Arg('input', { description: 'The account.' }) { id }: EnableUserInput,
    @Ctx() context: GraphqlContext,
  ): Promise<EnableUserPayload> {
    return updated(context, id, { status: 'active' });
  }

  @Allow('admin')
  @Mutation(() => DisableUserPayload, {
    description:
      'Disables an account. Within a second its sessions end and its API keys are rejected. Requires an administrator.',
  })
  disableUser(
    @Arg('input', { description: 'The account.' }) { id }: DisableUserInput,
    @Ctx() context: GraphqlContext,
  ): Promise<DisableUserPayload> {
    return updated(context, id, { status: 'disabled' });
  }
}
