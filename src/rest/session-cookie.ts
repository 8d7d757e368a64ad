import type { FastifyReply } from 'fastify';

export const SESSION_COOKIE = 'pr_session';

/** A signed session token and how long it holds. */
export interface SessionToken {
  token: string;
  maxAgeSeconds: number;
}

/** Hands the session to a browser. HttpOnly, SameSite, Path and Secure are the defaults of the app's cookies. */
export function setSessionCookie(reply: FastifyReply, session: SessionToken): void {
  reply.setCookie(SESSION_COOKIE, session.token, { maxAge: session.maxAgeSeconds });
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(SESSION_COOKIE);
}
