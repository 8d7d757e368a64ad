import { Field, InterfaceType, ObjectType } from 'type-graphql';
import { z } from 'zod';
import { accountOutput, sessionOutput, userOutput } from '../../services/accounts/accounts.outputs.js';
import { connectionOf, pageOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

export const UserRole = enumOf('UserRole', 'What an account may do.', userOutput.shape.role, {
  user: 'An ordinary account.',
  admin: 'An operator.',
});

const AccountStatus = enumOf('AccountStatus', 'Whether an account may act.', userOutput.shape.status, {
  active: 'It may.',
  disabled: 'It has no sessions and its keys are refused.',
});

@InterfaceType({ description: accountOutput.description, autoRegisterImplementations: false })
export abstract class Account extends outputFields(userOutput, { role: UserRole, status: AccountStatus }) {}

@ObjectType({ implements: Account, description: 'An account as its owner and administrators see it.' })
export class User extends Account {}

@ObjectType({
  implements: Account,
  description: 'The account of the session, with everything that belongs to it.',
})
export class Viewer extends Account {}

@ObjectType({ description: pageOf('accounts') })
export class UserConnection extends connectionOf(User, 'accounts') {}

const sessionPayload = sessionOutput.extend({
  expires_in: z.int().describe('Seconds that the token holds.'),
  user: userOutput.describe('The account.'),
});
const SESSION = 'A session. Over HTTP the cookie `pr_session` carries the same token.';

@ObjectType({ description: SESSION })
export class SignupPayload extends outputFields(sessionPayload, { user: User }) {}

@ObjectType({ description: SESSION })
export class LoginPayload extends outputFields(sessionPayload, { user: User }) {}

@ObjectType()
abstract class SuccessPayload {
  @Field({ description: 'Always true: what fails is an error.' })
  success!: boolean;
}

@ObjectType({ description: 'The session is ended.' })
export class LogoutPayload extends SuccessPayload {}

@ObjectType({ description: 'The password is changed.' })
export class ChangePasswordPayload extends SuccessPayload {}

@ObjectType({ description: 'The account is deleted.' })
export class DeleteAccountPayload extends SuccessPayload {}

@ObjectType()
abstract class UserPayload {
  @Field(() => User, { description: 'The account as it is now.' })
  user!: User;
}

@ObjectType({ description: 'An account on its new plan.' })
export class SetUserPlanPayload extends UserPayload {}

@ObjectType({ description: 'An account in its new role.' })
export class SetUserRolePayload extends UserPayload {}

@ObjectType({ description: 'An account that may act again.' })
export class EnableUserPayload extends UserPayload {}

@ObjectType({ description: 'An account that may not act any more.' })
export class DisableUserPayload extends UserPayload {}
