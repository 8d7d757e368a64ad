import { Field, ID, Int, InterfaceType, ObjectType, registerEnumType } from 'type-graphql';
import { accountOutput, sessionOutput, userOutput } from '../../services/accounts/accounts.outputs.js';
import type { UserView } from '../../services/accounts/accounts.rules.js';
import type { Camel } from '../case.js';
import { connectionOf, pageOf } from '../connections.js';
import { fieldDocs } from '../docs.js';
import { DateTime, Decimal } from '../scalars.js';

export const UserRole = { USER: 'user', ADMIN: 'admin' } as const;
registerEnumType(UserRole, {
  name: 'UserRole',
  description: 'What an account may do.',
  valuesConfig: { USER: { description: 'An ordinary account.' }, ADMIN: { description: 'An operator.' } },
});

export const AccountStatus = { ACTIVE: 'active', DISABLED: 'disabled' } as const;
registerEnumType(AccountStatus, {
  name: 'AccountStatus',
  description: 'Whether an account may act.',
  valuesConfig: {
    ACTIVE: { description: 'It may.' },
    DISABLED: { description: 'It has no sessions and its keys are refused.' },
  },
});

const doc = fieldDocs(userOutput);

@InterfaceType({ description: accountOutput.description, autoRegisterImplementations: false })
export abstract class Account implements Camel<UserView> {
  @Field(() => ID, { description: doc.id })
  id!: string;

  @Field({ description: doc.email })
  email!: string;

  @Field({ description: doc.name })
  name!: string;

  @Field(() => UserRole, { description: doc.role })
  role!: 'user' | 'admin';

  @Field(() => AccountStatus, { description: doc.status })
  status!: 'active' | 'disabled';

  @Field(() => DateTime, { description: doc.createdAt })
  createdAt!: string;

  @Field({ description: doc.planId })
  planId!: string;

  @Field(() => Decimal, { description: doc.balanceUsd })
  balanceUsd!: string;
}

@ObjectType({ implements: Account, description: 'An account as its owner and administrators see it.' })
export class User extends Account {}

@ObjectType({
  implements: Account,
  description: 'The account of the session, with everything that belongs to it.',
})
export class Viewer extends Account {}

@ObjectType({ description: pageOf('accounts') })
export class UserConnection extends connectionOf(User, 'accounts') {}

const sessionDoc = fieldDocs(sessionOutput.omit({ user: true }));

@ObjectType()
abstract class SessionPayload {
  @Field({ description: sessionDoc.accessToken })
  accessToken!: string;

  @Field({ description: sessionDoc.tokenType })
  tokenType!: string;

  @Field(() => Int, { description: 'Seconds that the token holds.' })
  expiresIn!: number;

  @Field(() => User, { description: 'The account.' })
  user!: User;
}

const SESSION = 'A session. Over HTTP the cookie `pr_session` carries the same token.';

@ObjectType({ description: SESSION })
export class SignupPayload extends SessionPayload {}

@ObjectType({ description: SESSION })
export class LoginPayload extends SessionPayload {}

@ObjectType({ description: SESSION })
export class ResetPasswordPayload extends SessionPayload {}

@ObjectType()
abstract class SuccessPayload {
  @Field({ description: 'Always true: what fails is an error.' })
  success!: boolean;
}

@ObjectType({ description: 'The session is ended.' })
export class LogoutPayload extends SuccessPayload {}

@ObjectType({ description: 'A mail is on its way if an account has the address.' })
export class ForgotPasswordPayload extends SuccessPayload {}

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
