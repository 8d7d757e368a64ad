import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requireAdmin, requireViewer } from '../context.js';
import { AppError } from '../errors.js';
import { SESSION_COOKIE, setSessionCookie } from '../rest/session-cookie.js';
import type { Services } from '../services.js';
import { refuseCrossSiteWrite } from './cross-site.js';
import { entryOf } from './route-guard.js';

const BEARER = /^Bearer +(\S+)$/i;

interface Credential {
  token: string;
  from: 'bearer' | 'cookie';
}

/** The credential of a request. A bearer wins over the cookie, also when it is worthless. */
function credentialOf(request: FastifyRequest): Credential | undefined {
  const { authorization } = request.headers;
  if (authorization !== undefined && /^Bearer(?: |$)/i.test(authorization)) {
    return { token: BEARER.exec(authorization)?.[1] ?? '', from: 'bearer' };
  }
  const cookie = request.cookies[SESSION_COOKIE];
  return cookie === undefined ? undefined : { token: cookie, from: 'cookie' };
}

/** Enforces `auth` of the matched entry and refuses cross-site writes that carry the cookie or would set it. */
export function guardSessions(app: FastifyInstance, services: Services, publicOrigin: string): void {
  app.addHook('onRequest', async (request, reply) => {
    const entry = entryOf(request);
    if (!entry) return;
    const credential = credentialOf(request);
    if (credential?.from === 'cookie' || entry.opensSession) refuseCrossSiteWrite(request, publicOrigin);
    switch (entry.auth) {
      case 'none':
        return;
      case 'internal':
        throw new AppError('internal_routes_disabled');
      case 'session':
      case 'admin':
        if (credential) await openSession(request, reply, credential, services);
        if (entry.auth === 'admin') requireAdmin(request.context);
        else requireViewer(request.context);
    }
  });
}

async function openSession(
  request: FastifyRequest,
  reply: FastifyReply,
  credential: Credential,
  services: Services,
): Promise<void> {
  const session = await services.accounts.authenticate(request.context, credential.token);
  if (!session) return;
  request.context.viewer = session.viewer;
  // The dashboard renews the cookie with each request; a bearer lives as long as it was given.
  if (credential.from === 'cookie') setSessionCookie(reply, await services.accounts.renew(session));
}
