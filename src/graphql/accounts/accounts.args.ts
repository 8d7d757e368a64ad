import { ArgsType, Field, ID, InputType } from 'type-graphql';
import type { z } from 'zod';
import {
  changePasswordInput,
  deleteAccountInput,
  type forgotPasswordInput,
  listUsersInput,
  type loginInput,
  resetPasswordInput,
  signupInput,
  updateUserInput,
} from '../../services/accounts/accounts.inputs.js';
import type { Camel } from '../case.js';
import { PageArgs } from '../connections.js';
import { fieldDocs } from '../docs.js';
import { UserRole } from './accounts.types.js';

const signup = fieldDocs(signupInput);

@InputType({ description: 'Who signs up.' })
export class SignupInput implements Camel<z.input<typeof signupInput>> {
  @Field({ description: signup.email })
  email!: string;

  @Field({ description: signup.password })
  password!: string;

  @Field({ description: signup.name })
  name!: string;
}

@InputType({ description: 'Who logs in.' })
export class LoginInput implements Camel<z.input<typeof loginInput>> {
  @Field({ description: signup.email })
  email!: string;

  @Field({ description: 'The password.' })
  password!: string;
}

@InputType({ description: 'Whose password is forgotten.' })
export class ForgotPasswordInput implements Camel<z.input<typeof forgotPasswordInput>> {
  @Field({ description: signup.email })
  email!: string;
}

const reset = fieldDocs(resetPasswordInput);

@InputType({ description: 'A new password, and the proof that it may be set.' })
export class ResetPasswordInput implements Camel<z.input<typeof resetPasswordInput>> {
  @Field({ description: reset.token })
  token!: string;

  @Field({ description: reset.password })
  password!: string;
}

const passwordChange = fieldDocs(changePasswordInput);

@InputType({ description: 'A change of password.' })
export class ChangePasswordInput implements Camel<z.input<typeof changePasswordInput>> {
  @Field({ description: passwordChange.currentPassword })
  currentPassword!: string;

  @Field({ description: passwordChange.newPassword })
  newPassword!: string;
}

@InputType({ description: 'The proof that a deletion is meant.' })
export class DeleteAccountInput implements Camel<z.input<typeof deleteAccountInput>> {
  @Field({ description: fieldDocs(deleteAccountInput).password })
  password!: string;
}

@ArgsType()
export class UsersArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: fieldDocs(listUsersInput).search })
  search?: string | null;
}

const ID_OF_ACCOUNT = 'Id of the account.';
const change = fieldDocs(updateUserInput);

@InputType()
abstract class UserIdInput {
  @Field(() => ID, { description: ID_OF_ACCOUNT })
  id!: string;
}

@InputType({ description: 'A move of an account to a plan.' })
export class SetUserPlanInput extends UserIdInput {
  @Field({ description: change.plan })
  plan!: string;
}

@InputType({ description: 'A change of what an account may do.' })
export class SetUserRoleInput extends UserIdInput {
  @Field(() => UserRole, { description: change.role })
  role!: 'user' | 'admin';
}

@InputType({ description: 'An account that is to act again.' })
export class EnableUserInput extends UserIdInput {}

@InputType({ description: 'An account that is to act no more.' })
export class DisableUserInput extends UserIdInput {}
