import type { FastifyReply } from 'fastify';
import type { SessionToken } from '../services/accounts/sessions.service.js';

export const SESSION_COOKIE = 'pr_session';

/** Hands the session to a browser. HttpOnly, SameSite, Path and Secure are the defaults of the app's cookies. */
export function setSessionCookie(reply: FastifyReply, session: SessionToken): void {
  reply.setCookie(SESSION_COOKIE, session.token, { maxAge: session.maxAgeSeconds });
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(SESSION_COOKIE);
}
