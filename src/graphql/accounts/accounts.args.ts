import { ArgsType, Field, InputType } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import {
  changePasswordInput,
  deleteAccountInput,
  listUsersInput,
  loginInput,
  signupInput,
  updateUserInput,
} from '../../services/accounts/accounts.inputs.js';
import { PageArgs } from '../connections.js';
import { descriptionOf, inputFields } from '../zod-fields.js';
import { UserRole } from './accounts.types.js';

@InputType({ description: 'Who signs up.' })
export class SignupInput extends inputFields(signupInput) {}

@InputType({ description: 'Who logs in.' })
export class LoginInput extends inputFields(loginInput) {}

@InputType({ description: 'A change of password.' })
export class ChangePasswordInput extends inputFields(changePasswordInput) {}

@InputType({ description: 'The proof that a deletion is meant.' })
export class DeleteAccountInput extends inputFields(deleteAccountInput) {}

@ArgsType()
export class UsersArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: descriptionOf(listUsersInput.shape.search) })
  search?: string | null;
}

const userId = z.object({ id: uuid('Id of the account.') });
const { plan, role } = updateUserInput.shape;

@InputType({ description: 'A move of an account to a plan.' })
export class SetUserPlanInput extends inputFields(userId.extend({ plan: plan.unwrap() })) {}

@InputType({ description: 'A change of what an account may do.' })
export class SetUserRoleInput extends inputFields(userId.extend({ role: role.unwrap() }), {
  role: UserRole,
}) {}

@InputType({ description: 'An account that is to act again.' })
export class EnableUserInput extends inputFields(userId) {}

@InputType({ description: 'An account that is to act no more.' })
export class DisableUserInput extends inputFields(userId) {}
