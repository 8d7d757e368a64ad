import { Field, InterfaceType, ObjectType } from 'type-graphql';
import { z } from 'zod';
import { accountOutput, sessionOutput, userOutput } from '../../services/accounts/accounts.outputs.js';
import { connectionOf, pageOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

export const UserRole = enumOf('UserRole', 'Account role.', userOutput.shape.role, {
  user: 'A regular user.',
  admin: 'An administrator.',
});

const AccountStatus = enumOf('AccountStatus', 'Account status.', userOutput.shape.status, {
  active: 'The account is in use.',
  disabled: "The account can't sign in, and its API keys are rejected.",
});

@InterfaceType({ description: accountOutput.description, autoRegisterImplementations: false })
export abstract class Account extends outputFields(userOutput, { role: UserRole, status: AccountStatus }) {}

@ObjectType({ implements: Account, description: 'An account, as shown to its owner and to administrators.' })
export class User extends Account {}

@ObjectType({
  implements: Account,
  description: 'The signed-in account and everything that belongs to it.',
})
export class Viewer extends Account {}

@ObjectType({ description: pageOf('accounts') })
export class UserConnection extends connectionOf(User, 'accounts') {}

const sessionPayload = sessionOutput.extend({
  expires_in: z.int().describe('Token lifetime in seconds.'),
  user: userOutput.describe('The account.'),
});
const SESSION = 'A session. Over HTTP, the `pr_session` cookie carries the same token.';

@ObjectType({ description: SESSION })
export class SignupPayload extends outputFields(sessionPayload, { user: User }) {}

@ObjectType({ description: SESSION })
export class LoginPayload extends outputFields(sessionPayload, { user: User }) {}

@ObjectType({ description: SESSION })
export class ResetPasswordPayload extends outputFields(sessionPayload, { user: User }) {}

@ObjectType()
abstract class SuccessPayload {
  @Field({ description: 'Always true. Failures are returned as errors.' })
  success!: boolean;
}

@ObjectType({ description: 'The result of logging out.' })
export class LogoutPayload extends SuccessPayload {}

@ObjectType({ description: 'An email was sent if an account has the address.' })
export class ForgotPasswordPayload extends SuccessPayload {}

@ObjectType({ description: 'The result of changing the password.' })
export class ChangePasswordPayload extends SuccessPayload {}

@ObjectType({ description: 'The result of deleting the account.' })
export class DeleteAccountPayload extends SuccessPayload {}

@ObjectType()
abstract class UserPayload {
  @Field(() => User, { description: 'The updated account.' })
  user!: User;
}

@ObjectType({ description: 'The account with its new plan.' })
export class SetUserPlanPayload extends UserPayload {}

@ObjectType({ description: 'The account with its new role.' })
export class SetUserRolePayload extends UserPayload {}

@ObjectType({ description: 'The enabled account.' })
export class EnableUserPayload extends UserPayload {}

@ObjectType({ description: 'The disabled account.' })
export class DisableUserPayload extends UserPayload {}
