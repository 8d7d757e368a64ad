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

/** Who is signed in, and how they come and go. */
@Resolver()
export class AccountsResolver {
  @Allow('session')
  @Query(() => Viewer, { nullable: true, description: 'The account of the session. Needs a session.' })
  viewer(@Ctx() context: GraphqlContext): Promise<Viewer | null> {
    return loadViewer(context);
  }

  @Allow('public', { proof: true })
  @Mutation(() => SignupPayload, {
    description:
      'Makes an account on the plan `free` with $1.00 of starter credit (once per mail, plus-tags folded) and opens a session.',
  })
  async signup(
    @Arg('input', { description: 'Who signs up.' }) input: SignupInput,
    @Ctx() context: GraphqlContext,
  ): Promise<SignupPayload> {
    const session = await context.services.accounts.signup(context.service, checked(signupInput, input));
    return sessionPayload(session, context);
  }

  @Allow('public', { proof: true })
  @Mutation(() => LoginPayload, {
    description: 'Opens a session. At most 10 failures per account and network in 15 minutes.',
  })
  async login(
    @Arg('input', { description: 'Who logs in.' }) input: LoginInput,
    @Ctx() context: GraphqlContext,
  ): Promise<LoginPayload> {
    const session = await context.services.accounts.login(context.service, checked(loginInput, input));
    return sessionPayload(session, context);
  }

  @Allow('public')
  @Mutation(() => ForgotPasswordPayload, {
    description:
      'Sends a link for a new password to the mail if an account has it; the answer is the same either way. An address gets at most 3 in an hour.',
  })
  async forgotPassword(
    @Arg('input', { description: 'Whose password.' }) input: ForgotPasswordInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<ForgotPasswordPayload> {
    await services.accounts.forgotPassword(service, checked(forgotPasswordInput, input));
    return SUCCESS;
  }

  @Allow('public', { proof: true })
  @Mutation(() => ResetPasswordPayload, {
    description:
      'Sets a new password by a link, which works once, for 30 minutes; ends all sessions of the account and opens a new one.',
  })
  async resetPassword(
    @Arg('input', { description: 'The password and the link.' }) input: ResetPasswordInput,
    @Ctx() context: GraphqlContext,
  ): Promise<ResetPasswordPayload> {
    const session = await context.services.accounts.resetPassword(
      context.service,
      checked(resetPasswordInput, input),
    );
    return sessionPayload(session, context);
  }

  @Allow('session')
  @Mutation(() => LogoutPayload, { description: 'Ends this session, with every token of it.' })
  async logout(@Ctx() { services, service, sessionJar }: GraphqlContext): Promise<LogoutPayload> {
    await services.accounts.logout(service);
    sessionJar.clear();
    return SUCCESS;
  }

  @Allow('session', { proof: true })
  @Mutation(() => ChangePasswordPayload, {
    description: 'Sets a new password and ends all other sessions; this one goes on.',
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
      'Deletes the account of the session: ends all sessions and keys and erases what is personal. Ledger and usage stay without name and mail. It can not be undone.',
  })
  async deleteAccount(
    @Arg('input', { description: 'The proof.' }) input: DeleteAccountInput,
    @Ctx() { services, service, sessionJar }: GraphqlContext,
  ): Promise<DeleteAccountPayload> {
    await services.accounts.deleteAccount(service, checked(deleteAccountInput, input));
    sessionJar.clear();
    return SUCCESS;
  }
}

/** What hangs on an account, whoever looks at it. */
@Resolver(() => Account)
export class AccountResolver {
  @FieldResolver(() => Plan, { description: 'The plan of the account.' })
  plan(@Root() account: Account, @Ctx() { loaders }: GraphqlContext): Promise<Plan | null> {
    return loaders.plans.load(account.planId);
  }
}
