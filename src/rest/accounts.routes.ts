import {
  changePasswordInput,
  deleteAccountInput,
  forgotPasswordInput,
  loginInput,
  resetPasswordInput,
  signupInput,
} from '../services/accounts/accounts.inputs.js';
import { meOutput, sessionOutput } from '../services/accounts/accounts.outputs.js';
import type { OpenedSession } from '../services/accounts/sessions.service.js';
import { restRoutes } from './operations.js';
import { reads, writes } from './route-rules.js';
import { clearSessionCookie, startCookieSession } from './session-cookie.js';

const sessionBody = ({ token, user }: OpenedSession) => ({
  access_token: token,
  token_type: 'bearer' as const,
  user,
});

/** Sign-up, log-in and the viewer's own account. */
export const accountsRoutes = restRoutes('Account', (route, { accounts }) => {
  route('POST /api/auth/signup', writes({ auth: 'none', rate: 'auth', opensSession: true }), {
    operationId: 'signup',
    summary: 'Sign up',
    description:
      'Creates an account on the `free` plan and starts a session. The token is also set as the `pr_session` cookie. The first account per email address, ignoring plus tags, receives a $1.00 starter credit.',
    body: signupInput,
    returns: { 200: sessionOutput },
    errors: [403, 409],
    run: async ({ context, body }, reply) => {
      const session = await accounts.signup(context, body);
      await startCookieSession(reply, session, accounts);
      return sessionBody(session);
    },
  });

  route('POST /api/auth/login', writes({ auth: 'none', rate: 'auth', opensSession: true }), {
    operationId: 'login',
    summary: 'Log in',
    description:
      'Starts a session. The token is also set as the `pr_session` cookie. At most 10 failed attempts per account and network in 15 minutes, and 50 per network.',
    body: loginInput,
    returns: { 200: sessionOutput },
    errors: [401, 403],
    run: async ({ context, body }, reply) => {
      const session = await accounts.login(context, body);
      await startCookieSession(reply, session, accounts);
      return sessionBody(session);
    },
  });

  route('POST /api/auth/forgot-password', writes({ auth: 'none', rate: 'auth' }), {
    operationId: 'forgotPassword',
    summary: 'Request a password reset link',
    description:
      'Emails a link if an account has the address; the response is the same either way. At most 3 emails per address in 30 minutes, and 20 requests per network and hour. Nothing is sent if no mail server is configured: see `installation { mailConfigured }` in GraphQL.',
    body: forgotPasswordInput,
    returns: { 202: 'An email is sent if an account has the address.' },
    errors: [403],
    run: ({ context, body }) => accounts.forgotPassword(context, body),
  });

  route('POST /api/auth/reset-password', writes({ auth: 'none', rate: 'auth', opensSession: true }), {
    operationId: 'resetPassword',
    summary: 'Reset your password',
    description:
      'Sets a new password with the token from an emailed link, ends all sessions of the account and starts a new one, like a login. A link works once, for 30 minutes.',
    body: resetPasswordInput,
    returns: { 200: sessionOutput },
    errors: [403],
    run: async ({ context, body }, reply) => {
      const session = await accounts.resetPassword(context, body);
      await startCookieSession(reply, session, accounts);
      return sessionBody(session);
    },
  });

  route('GET /api/auth/me', reads(), {
    operationId: 'getMe',
    summary: 'Get your account',
    description: 'Returns the signed-in account, its plan and its credit balance.',
    returns: { 200: meOutput },
    run: ({ context }) => accounts.me(context),
  });

  route('DELETE /api/auth/me', writes({ rate: 'auth' }), {
    operationId: 'deleteMe',
    summary: 'Delete your account',
    description:
      "Ends all sessions, deletes all API keys, prompts, playground sessions and widgets, and erases email address, name, password and data key. Ledger and usage records are kept without name or email address. This can't be undone. The last active administrator can't be deleted (422).",
    body: deleteAccountInput,
    returns: { 204: 'The account was deleted.' },
    run: async ({ context, body }, reply) => {
      await accounts.deleteAccount(context, body);
      clearSessionCookie(reply);
    },
  });

  route('POST /api/auth/logout', writes(), {
    operationId: 'logout',
    summary: 'Log out',
    description: 'Ends the current session, revokes all its tokens and clears the cookie.',
    returns: { 204: 'The session has ended.' },
    run: async ({ context }, reply) => {
      await accounts.logout(context);
      clearSessionCookie(reply);
    },
  });

  route('POST /api/auth/password', writes({ rate: 'auth' }), {
    operationId: 'changePassword',
    summary: 'Change your password',
    description: 'Changes the password and ends all other sessions.',
    body: changePasswordInput,
    returns: { 204: 'The password was changed.' },
    run: ({ context, body }) => accounts.changePassword(context, body),
  });
});
