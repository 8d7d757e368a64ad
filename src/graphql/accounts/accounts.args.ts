import { ArgsType, Field, InputType } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import {
  changePasswordInput,
  deleteAccountInput,
  forgotPasswordInput,
  listUsersInput,
  loginInput,
  resetPasswordInput,
  signupInput,
  updateUserInput,
} from '../../services/accounts/accounts.inputs.js';
import { PageArgs } from '../connections.js';
import { descriptionOf, inputFields } from '../zod-fields.js';
import { UserRole } from './accounts.types.js';

@InputType({ description: 'The details of the new account.' })
export class SignupInput extends inputFields(signupInput) {}

@InputType({ description: 'The credentials.' })
export class LoginInput extends inputFields(loginInput) {}

@InputType({ description: 'The current password and the new one.' })
export class ChangePasswordInput extends inputFields(changePasswordInput) {}

@InputType({ description: 'The email address of an account whose password was forgotten.' })
export class ForgotPasswordInput extends inputFields(forgotPasswordInput) {}

@InputType({ description: 'A new password, and the token that allows it.' })
export class ResetPasswordInput extends inputFields(resetPasswordInput) {}

@InputType({ description: 'The password, which confirms the deletion.' })
export class DeleteAccountInput extends inputFields(deleteAccountInput) {}

@ArgsType()
export class UsersArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: descriptionOf(listUsersInput.shape.search) })
  search?: string | null;
}

const userId = z.object({ id: uuid('Account ID.') });
const { plan, role, expected_plan } = updateUserInput.shape;

@ArgsType()
export class UserArgs extends inputFields(userId) {}

@InputType({ description: 'An account and its new plan.' })
export class SetUserPlanInput extends inputFields(userId.extend({ plan: plan.unwrap(), expected_plan })) {}

@InputType({ description: 'An account and its new role.' })
export class SetUserRoleInput extends inputFields(userId.extend({ role: role.unwrap() }), {
  role: UserRole,
}) {}

@InputType({ description: 'The account to enable.' })
export class EnableUserInput extends inputFields(userId) {}

@InputType({ description: 'The account to disable.' })
export class DisableUserInput extends inputFields(userId) {}
