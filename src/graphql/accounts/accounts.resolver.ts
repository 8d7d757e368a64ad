import { z } from 'zod';
import {
  changePasswordInput,
  deleteAccountInput,
  forgotPasswordInput,
  loginInput,
  resetPasswordInput,
  signupInput,
} from '../../services/accounts/accounts.inputs.js';
import { sessionOutput, userOutput } from '../../services/accounts/accounts.outputs.js';
import type { OpenedSession } from '../../services/accounts/sessions.service.js';
import { Plan } from '../billing/billing.types.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { field, mutation, query, subscription } from '../fields.js';
import { checked } from '../input.js';
import { Account, AccountChange, Viewer } from './accounts.types.js';

const sessionPayload = sessionOutput
  .extend({
    expires_in: z.int().describe('Token lifetime in seconds.'),
    user: userOutput.describe('The account.'),
  })
  .describe('A session. Over HTTP, the `pr_session` cookie carries the same token.');

async function opened(session: OpenedSession, { sessionJar }: GraphqlContext) {
  await sessionJar.set(session);
  return {
    accessToken: session.token,
    tokenType: 'bearer' as const,
    expiresIn: session.maxAgeSeconds,
    user: camelCased(session.user),
  };
}

const done = z.object({ success: z.boolean().describe('Always true. Failures are returned as errors.') });
const SUCCESS = { success: true };

/** The signed-in account, sign-up, log-in and log-out. */
export const accountsResolvers = [
  query('viewer', 'session', Viewer, {
    nullable: true,
    description: 'The signed-in account. Requires a session.',
    run: ({ service, loaders }) => loaders.users.load(service.viewer!.accountId),
  }),
  mutation('signup', 'public', {
    proof: true,
    description:
      'Creates an account on the `free` plan and starts a session. The first account per email address, ignoring plus tags, receives a $1.00 starter credit.',
    input: signupInput.describe('The details of the new account.'),
    argument: 'The details of the new account.',
    payload: sessionPayload,
    run: async (context, input) =>
      opened(await context.services.accounts.signup(context.service, checked(signupInput, input)), context),
  }),
  mutation('login', 'public', {
    proof: true,
    description: 'Starts a session. At most 10 failed attempts per account and network in 15 minutes.',
    input: loginInput.describe('The credentials.'),
    argument: 'The credentials.',
    payload: sessionPayload,
    run: async (context, input) =>
      opened(await context.services.accounts.login(context.service, checked(loginInput, input)), context),
  }),
  mutation('forgotPassword', 'public', {
    description:
      'Emails a password reset link if an account has the address; the response is the same either way. At most 3 emails per address in 30 minutes.',
    input: forgotPasswordInput.describe('The email address of an account whose password was forgotten.'),
    argument: 'The email address.',
    payload: done.describe('An email was sent if an account has the address.'),
    run: async ({ services, service }, input) => {
      await services.accounts.forgotPassword(service, checked(forgotPasswordInput, input));
      return SUCCESS;
    },
  }),
  mutation('resetPassword', 'public', {
    proof: true,
    description:
      'Sets a new password with the token from an emailed link, ends all sessions of the account and starts a new one. A link works once, for 30 minutes.',
    input: resetPasswordInput.describe('A new password, and the token that allows it.'),
    argument: 'The new password and the token.',
    payload: sessionPayload,
    run: async (context, given) => {
      const input = checked(resetPasswordInput, given);
      return opened(await context.services.accounts.resetPassword(context.service, input), context);
    },
  }),
  mutation('logout', 'session', {
    description: 'Ends the current session and revokes all its tokens.',
    payload: done.describe('The result of logging out.'),
    run: async ({ services, service, sessionJar }) => {
      await services.accounts.logout(service);
      sessionJar.clear();
      return SUCCESS;
    },
  }),
  mutation('changePassword', 'session', {
    proof: true,
    description: 'Changes the password and ends all other sessions.',
    input: changePasswordInput.describe('The current password and the new one.'),
    argument: 'The passwords.',
    payload: done.describe('The result of changing the password.'),
    run: async ({ services, service }, input) => {
      await services.accounts.changePassword(service, checked(changePasswordInput, input));
      return SUCCESS;
    },
  }),
  mutation('deleteAccount', 'session', {
    proof: true,
    description:
      "Deletes the signed-in account, ends its sessions, deletes its API keys, prompts, playground sessions and widgets, and erases personal data. Ledger and usage records are kept without name or email address. This can't be undone.",
    input: deleteAccountInput.describe('The password, which confirms the deletion.'),
    argument: 'The confirmation.',
    payload: done.describe('The result of deleting the account.'),
    run: async ({ services, service, sessionJar }, input) => {
      await services.accounts.deleteAccount(service, checked(deleteAccountInput, input));
      sessionJar.clear();
      return SUCCESS;
    },
  }),
  field(Account, 'plan', Plan, {
    description: 'The plan of the account.',
    run: ({ loaders }, _args, { planId }) => loaders.plans.load(planId),
  }),
  subscription('accountChanged', 'session', AccountChange, {
    description:
      'Changes of the account once they are committed: balance, plan, keys, and rejected calls. Changes in quick succession arrive as one event. For the cost of calls, use `usageRecorded`. Requires a session.',
    subscribe: ({ services, service }) => services.accountFeed.accountChanged(service),
  }),
] as const;
