import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import {
  listUsersInput,
  type UpdateUserInput,
  updateUserInput,
  usersConnectionInput,
} from '../../services/accounts/accounts.inputs.js';
import { userOutput } from '../../services/accounts/accounts.outputs.js';
import { camelCased, toGraphql } from '../case.js';
import { connectionArgs, pageCost, toConnection } from '../connections.js';
import type { GraphqlContext } from '../context.js';
import { mutation, query } from '../fields.js';
import { checked } from '../input.js';
import { User, UserConnection, UserRole } from './accounts.types.js';

const userId = z.object({ id: uuid('Account ID.') });
const { plan, role, expected_plan } = updateUserInput.shape;
const changedUser = z.object({ user: userOutput.describe('The updated account.') });

async function updated({ services, service }: GraphqlContext, id: string, change: UpdateUserInput) {
  return {
    user: camelCased(await services.accounts.updateUser(service, id, checked(updateUserInput, change))),
  };
}

/** Administration of accounts. */
export const usersResolvers = [
  query('users', 'admin', UserConnection, {
    description: "All accounts that aren't deleted. Requires an administrator.",
    complexity: pageCost,
    args: connectionArgs.extend({ search: listUsersInput.shape.search }),
    run: ({ services, service }, args) =>
      toConnection(services.accounts.usersPage(service, checked(usersConnectionInput, args)), args),
  }),
  query('user', 'admin', User, {
    nullable: true,
    description: 'An account. Requires an administrator.',
    args: userId,
    run: ({ services, service }, { id }) => toGraphql(services.accounts.getUser(service, id)),
  }),
  mutation('setUserPlan', 'admin', {
    description:
      'Moves an account to another plan. A paid plan grants its included credits once per month. Requires an administrator.',
    input: userId.extend({ plan: plan.unwrap(), expected_plan }).describe('An account and its new plan.'),
    argument: 'Account and plan.',
    payload: changedUser.describe('The account with its new plan.'),
    run: (context, { id, plan, expectedPlan }) =>
      updated(context, id, { plan, ...(expectedPlan != null && { expected_plan: expectedPlan }) }),
  }),
  mutation('setUserRole', 'admin', {
    description: 'Changes the role of an account and ends its sessions. Requires an administrator.',
    input: userId.extend({ role: role.unwrap() }).describe('An account and its new role.'),
    inputTypes: { role: UserRole },
    argument: 'Account and role.',
    payload: changedUser.describe('The account with its new role.'),
    run: (context, { id, role }) => updated(context, id, { role }),
  }),
  mutation('enableUser', 'admin', {
    description: 'Enables a disabled account. Requires an administrator.',
    input: userId.describe('The account to enable.'),
    argument: 'The account.',
    payload: changedUser.describe('The enabled account.'),
    run: (context, { id }) => updated(context, id, { status: 'active' }),
  }),
  mutation('disableUser', 'admin', {
    description:
      'Disables an account. Within a second its sessions end and its API keys are rejected. Requires an administrator.',
    input: userId.describe('The account to disable.'),
    argument: 'The account.',
    payload: changedUser.describe('The disabled account.'),
    run: (context, { id }) => updated(context, id, { status: 'disabled' }),
  }),
];
