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
import type { Services } from '../services.js';
import { errorResponses, nothing } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';
import { clearSessionCookie, setSessionCookie } from './session-cookie.js';

const tags = ['Account'];

const sessionBody = ({ token, user }: OpenedSession) => ({
  access_token: token,
  token_type: 'bearer' as const,
  user,
});

/** Sign-up, log-in and what a person does with their own account. */
export function accountsRoutes(app: RestApp, services: Services): void {
  app.route({
    method: 'POST',
    url: '/api/auth/signup',
    config: writes({ auth: 'none', rate: 'auth', opensSession: true }),
    schema: {
      operationId: 'signup',
      tags,
      summary: 'Sign up',
      description:
        'Creates an account on the `free` plan and starts a session. The token is also set as the `pr_session` cookie. The first account per email address, ignoring plus tags, receives a $1.00 starter credit.',
      security: [],
      body: signupInput,
      response: { 200: sessionOutput, ...errorResponses(403, 409, 415, 422) },
    },
    handler: async (request, reply) => {
      const session = await services.accounts.signup(request.context, request.body);
      setSessionCookie(reply, session);
      return sessionBody(session);
    },
  });
  app.route({
    method: 'POST',
    url: '/api/auth/login',
    config: writes({ auth: 'none', rate: 'auth', opensSession: true }),
    schema: {
      operationId: 'login',
      tags,
      summary: 'Log in',
      description:
        'Starts a session. The token is also set as the `pr_session` cookie. At most 10 failed attempts per account and network in 15 minutes, and 50 per network.',
      security: [],
      body: loginInput,
      response: { 200: sessionOutput, ...errorResponses(401, 403, 415, 422) },
    },
    handler: async (request, reply) => {
      const session = await services.accounts.login(request.context, request.body);
      setSessionCookie(reply, session);
      return sessionBody(session);
    },
  });
  passwordResetRoutes(app, services);
  app.route({
    method: 'GET',
    url: '/api/auth/me',
    config: reads(),
    schema: {
      operationId: 'getMe',
      tags,
      summary: 'Get your account',
      description: 'Returns the signed-in account, its plan and its credit balance.',
      response: { 200: meOutput, ...errorResponses(401) },
    },
    handler: async (request) => services.accounts.me(request.context),
  });
  app.route({
    method: 'DELETE',
    url: '/api/auth/me',
    config: writes({ rate: 'auth' }),
    schema: {
      operationId: 'deleteMe',
      tags,
      summary: 'Delete your account',
      description:
        "Ends all sessions, deletes all API keys and erases email address, name, password and data key. Ledger and usage records are kept without name or email address. This can't be undone. The last active administrator can't be deleted (422).",
      body: deleteAccountInput,
      response: { 204: nothing('The account was deleted.'), ...errorResponses(401, 403, 415, 422) },
    },
    handler: async (request, reply) => {
      await services.accounts.deleteAccount(request.context, request.body);
      clearSessionCookie(reply);
      reply.status(204);
    },
  });
  app.route({
    method: 'POST',
    url: '/api/auth/logout',
    config: writes(),
    schema: {
      operationId: 'logout',
      tags,
      summary: 'Log out',
      description: 'Ends the current session, revokes all its tokens and clears the cookie.',
      response: { 204: nothing('The session has ended.'), ...errorResponses(401, 403, 415) },
    },
    handler: async (request, reply) => {
      await services.accounts.logout(request.context);
      clearSessionCookie(reply);
      reply.status(204);
    },
  });
  app.route({
    method: 'POST',
    url: '/api/auth/password',
    config: writes({ rate: 'auth' }),
    schema: {
      operationId: 'changePassword',
      tags,
      summary: 'Change your password',
      description: 'Changes the password and ends all other sessions.',
      body: changePasswordInput,
      response: { 204: nothing('The password was changed.'), ...errorResponses(401, 403, 415, 422) },
    },
    handler: async (request, reply) => {
      await services.accounts.changePassword(request.context, request.body);
      reply.status(204);
    },
  });
}

/** For who has forgotten a password. */
function passwordResetRoutes(app: RestApp, services: Services): void {
  app.route({
    method: 'POST',
    url: '/api/auth/forgot-password',
    config: writes({ auth: 'none', rate: 'auth' }),
    schema: {
      operationId: 'forgotPassword',
      tags,
      summary: 'Request a password reset link',
      description:
        'Emails a link if an account has the address; the response is the same either way. At most 3 emails per address and hour, and 20 requests per network and hour. Nothing is sent if no mail server is configured: see `installation { mailConfigured }` in GraphQL.',
      security: [],
      body: forgotPasswordInput,
      response: {
        202: nothing('An email is sent if an account has the address.'),
        ...errorResponses(403, 415, 422),
      },
    },
    handler: async (request, reply) => {
      await services.accounts.forgotPassword(request.context, request.body);
      reply.status(202);
    },
  });
  app.route({
    method: 'POST',
    url: '/api/auth/reset-password',
    config: writes({ auth: 'none', rate: 'auth', opensSession: true }),
    schema: {
      operationId: 'resetPassword',
      tags,
      summary: 'Reset your password',
      description:
        'Sets a new password with the token from an emailed link, ends all sessions of the account and starts a new one, like a login. A link works once, for 30 minutes.',
      security: [],
      body: resetPasswordInput,
      response: { 200: sessionOutput, ...errorResponses(403, 415, 422) },
    },
    handler: async (request, reply) => {
      const session = await services.accounts.resetPassword(request.context, request.body);
      setSessionCookie(reply, session);
      return sessionBody(session);
    },
  });
}
