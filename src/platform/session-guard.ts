import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requireAdmin, requireViewer } from '../context.js';
import { AppError } from '../errors.js';
import { type Credential, credentialOf } from '../rest/credential.js';
import { setSessionCookie } from '../rest/session-cookie.js';
import type { Services } from '../services.js';
import { isUpgrade, refuseCrossSiteWrite } from './cross-site.js';
import { entryOf } from './route-guard.js';

/** Enforces `auth` of the matched entry and refuses cross-site writes that carry the cookie or would set it. */
export function guardSessions(app: FastifyInstance, services: Services, publicOrigin: string): void {
  app.addHook('onRequest', async (request, reply) => {
    const entry = entryOf(request);
    if (!entry) return;
    const credential = credentialOf(request.headers.authorization, request.cookies);
    if (credential?.from === 'cookie' || entry.opensSession || isUpgrade(request)) {
      refuseCrossSiteWrite(request, publicOrigin);
    }
    switch (entry.auth) {
      case 'none':
        return;
      case 'internal':
        throw new AppError('internal_routes_disabled');
      case 'optional':
        if (credential) await openSession(request, reply, credential, services);
        return;
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
