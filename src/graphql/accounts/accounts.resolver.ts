import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import {
  changePasswordInput,
  deleteAccountInput,
  forgotPasswordInput,
  loginInput,
  resetPasswordInput,
  signupInput,
} from '../../services/accounts/accounts.inputs.js';
import type { OpenedSession } from '../../services/accounts/sessions.service.js';
import { Allow } from '../access.js';
import { Plan } from '../billing/billing.types.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import {
  ChangePasswordInput,
  DeleteAccountInput,
  ForgotPasswordInput,
  LoginInput,
  ResetPasswordInput,
  SignupInput,
} from './accounts.args.js';
import {
  Account,
  ChangePasswordPayload,
  DeleteAccountPayload,
  ForgotPasswordPayload,
  LoginPayload,
  LogoutPayload,
  ResetPasswordPayload,
  SignupPayload,
  Viewer,
} from './accounts.types.js';
import { loadViewer } from './viewer.js';

const SUCCESS = { success: true };

function sessionPayload(
  session: OpenedSession,
  { sessionJar }: GraphqlContext,
): SignupPayload | LoginPayload | ResetPasswordPayload {
  sessionJar.set(session);
  return {
    accessToken: session.token,
    tokenType: 'bearer',
    expiresIn: session.maxAgeSeconds,
    user: camelCased(session.user),
  };
}

/** The signed-in account, sign-up, login and logout. */
@Resolver()
class AccountsResolver {
  @Allow('session')
  @Query(() => Viewer, { nullable: true, description: 'The signed-in account. Requires a session.' })
  viewer(@Ctx() context: GraphqlContext): Promise<Viewer | null> {
    return loadViewer(context);
  }

  @Allow('public', { proof: true })
  @Mutation(() => SignupPayload, {
    description:
      'Creates an account on the `free` plan and starts a session. The first account per email address, ignoring plus tags, receives a $1.00 starter credit.',
  })
  async signup(
    @Arg('input', { description: 'The details of the new account.' }) input: SignupInput,
    @Ctx() context: GraphqlContext,
  ): Promise<SignupPayload> {
    const session = await context.services.accounts.signup(context.service, checked(signupInput, input));
    return sessionPayload(session, context);
  }

  @Allow('public', { proof: true })
  @Mutation(() => LoginPayload, {
    description: 'Starts a session. At most 10 failed attempts per account and network in 15 minutes.',
  })
  async login(
    @Arg('input', { description: 'The credentials.' }) input: LoginInput,
    @Ctx() context: GraphqlContext,
  ): Promise<LoginPayload> {
    const session = await context.services.accounts.login(context.service, checked(loginInput, input));
    return sessionPayload(session, context);
  }

  @Allow('public')
  @Mutation(() => ForgotPasswordPayload, {
    description:
      'Emails a password reset link if an account has the address; the response is the same either way. At most 3 emails per address and hour.',
  })
  async forgotPassword(
    @Arg('input', { description: 'The email address.' }) input: ForgotPasswordInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<ForgotPasswordPayload> {
    await services.accounts.forgotPassword(service, checked(forgotPasswordInput, input));
    return SUCCESS;
  }

  @Allow('public', { proof: true })
  @Mutation(() => ResetPasswordPayload, {
    description:
      'Sets a new password with the token from an emailed link, ends all sessions of the account and starts a new one. A link works once, for 30 minutes.',
  })
  async resetPassword(
    @Arg('input', { description: 'The new password and the token.' }) input: ResetPasswordInput,
    @Ctx() context: GraphqlContext,
  ): Promise<ResetPasswordPayload> {
    const session = await context.services.accounts.resetPassword(
      context.service,
      checked(resetPasswordInput, input),
    );
    return sessionPayload(session, context);
  }

  @Allow('session')
  @Mutation(() => LogoutPayload, { description: 'Ends the current session and revokes all its tokens.' })
  async logout(@Ctx() { services, service, sessionJar }: GraphqlContext): Promise<LogoutPayload> {
    await services.accounts.logout(service);
    sessionJar.clear();
    return SUCCESS;
  }

  @Allow('session', { proof: true })
  @Mutation(() => ChangePasswordPayload, {
    description: 'Changes the password and ends all other sessions.',
  })
  async changePassword(
    @Arg('input', { description: 'The passwords.' }) input: ChangePasswordInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<ChangePasswordPayload> {
    await services.accounts.changePassword(service, checked(changePasswordInput, input));
    return SUCCESS;
  }

  @Allow('session', { proof: true })
  @Mutation(() => DeleteAccountPayload, {
    description:
      "Deletes the signed-in account, ends its sessions, deletes its API keys and erases personal data. Ledger and usage records are kept without name or email address. This can't be undone.",
  })
  async deleteAccount(
    @Arg('input', { description: 'The confirmation.' }) input: DeleteAccountInput,
    @Ctx() { services, service, sessionJar }: GraphqlContext,
  ): Promise<DeleteAccountPayload> {
    await services.accounts.deleteAccount(service, checked(deleteAccountInput, input));
    sessionJar.clear();
    return SUCCESS;
  }
}

/** Fields of an account, for its owner and administrators. */
@Resolver(() => Account)
class AccountResolver {
  @FieldResolver(() => Plan, { description: 'The plan of the account.' })
  plan(@Root() account: Account, @Ctx() { loaders }: GraphqlContext): Promise<Plan | null> {
    return loaders.plans.load(account.planId);
  }
}

/** Every resolver of the domain. */
export const accountsResolvers = [AccountsResolver, AccountResolver] as const;
