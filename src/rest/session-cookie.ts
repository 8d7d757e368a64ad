import type { FastifyReply } from 'fastify';
import type { OpenedSession, SessionsService, SessionToken } from '../services/accounts/sessions.service.js';

export const SESSION_COOKIE = 'pr_session';

/** Sets the session cookie. HttpOnly, SameSite, Path and Secure are the defaults of the app's cookies. */
export function setSessionCookie(reply: FastifyReply, session: SessionToken): void {
  reply.setCookie(SESSION_COOKIE, session.token, { maxAge: session.maxAgeSeconds });
}

/**
 * Sets the session cookie after a log-in. If it replaces another account's cookie, that session ends, since nobody
 * could end it later.
 */
export async function startCookieSession(
  reply: FastifyReply,
  session: OpenedSession,
  accounts: Pick<SessionsService, 'endOfOther'>,
): Promise<void> {
  const { context, cookies } = reply.request;
  const former = cookies[SESSION_COOKIE];
  if (former !== undefined) await accounts.endOfOther(context, former, session.user.id);
  setSessionCookie(reply, session);
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(SESSION_COOKIE);
}
