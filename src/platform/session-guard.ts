import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { requireAdmin, requireViewer } from '../context.js';
import { AppError } from '../errors.js';
import { sha256 } from '../lib/crypto.js';
import type { NetworkBudget } from '../lib/fair/network-budget.js';
import { KEY_PREFIX } from '../lib/key-form.js';
import { isWebSocketUpgrade } from '../lib/web-socket-upgrade.js';
import { credentialOf, type RequestCredential } from '../rest/credential.js';
import { setSessionCookie } from '../rest/session-cookie.js';
import { ACCOUNT_HEADER, refuseOtherAccount } from '../rest/shown-account.js';
import { isExempt } from '../services/accounts/exemption.rules.js';
import type { Session } from '../services/accounts/sessions.service.js';
import type { Services } from '../services.js';
import { isUpgrade, refuseCrossSiteWrite } from './cross-site.js';
import { rulesOf } from './route-guard.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of this request's cookie. */
    cookieSession: Session | null;
  }
}

const KEY_AT_API = 'API keys work only under /v1. Log in and send the access token.';
const WRONG_SECRET = 'Send "Authorization: Bearer …" with the value of GPU_HEARTBEAT_SECRET.';

export interface GuardOptions {
  /** Budget of networks for requests without a session. */
  strangers: NetworkBudget;
  publicUrl: URL;
  production: boolean;
  /** Accepted bearers of `/api/internal`. If the first is undefined, these routes are disabled. */
  internalSecrets: readonly [current: string | undefined, previous: string | undefined];
}

/**
 * Enforces `auth` of the matched route. Refuses cross-site writes that carry the cookie or would set it, and pages
 * that show another account than the cookie's. Limits callers without a session.
 */
export function guardSessions(
  app: FastifyInstance,
  services: Services,
  { strangers, publicUrl, production, internalSecrets }: GuardOptions,
): void {
  const isInternal = internalCheck(internalSecrets);
  app.decorateRequest('cookieSession', null);
  app.addHook('onRequest', async (request) => {
    const rules = rulesOf(request);
    if (!rules) return;
    const { context } = request;
    const credential = credentialOf(request.headers.authorization, request.cookies);
    if (credential?.from === 'cookie' || rules.opensSession || isUpgrade(request)) {
      refuseCrossSiteWrite(request, publicUrl);
    }
    if (rules.auth === 'internal') {
      if (isInternal?.(request.headers.authorization)) return;
      if (!isExempt(context, { production })) strangers.spend(context.networks);
      if (!isInternal) throw new AppError('internal_routes_disabled');
      throw new AppError('unauthorized', { message: WRONG_SECRET });
    }
    // A WebSocket authenticates in its first message.
    const showsLater = rules.auth === 'optional' && isWebSocketUpgrade(request.raw);
    if (rules.auth !== 'none' && !showsLater && credential) await openSession(request, credential, services);
    if (rules.rate !== 'none' && !context.viewer && !isExempt(context, { production })) {
      strangers.spend(context.networks);
    }
    if (rules.auth !== 'none' && !showsLater && !context.viewer && credential?.token.startsWith(KEY_PREFIX)) {
      throw new AppError('unauthorized', { message: KEY_AT_API });
    }
    if (rules.auth === 'admin') requireAdmin(context);
    else if (rules.auth === 'session') requireViewer(context);
  });
  renewCookies(app, services);
}

async function openSession(
  request: FastifyRequest,
  credential: RequestCredential,
  services: Services,
): Promise<void> {
  const session = await services.accounts.authenticate(request.context, credential.token);
  if (!session) return;
  if (credential.from === 'cookie') {
    refuseOtherAccount(request.headers[ACCOUNT_HEADER], session.viewer.accountId);
  }
  request.context.viewer = session.viewer;
  if (credential.from === 'cookie') request.cookieSession = session;
}

/**
 * Each request of the dashboard renews the cookie; a bearer keeps its lifetime. The session is checked again as the
 * response leaves: it may have ended in the meantime, and its cookie must not come back after the log-out.
 */
function renewCookies(app: FastifyInstance, services: Services): void {
  app.addHook('onSend', async (request, reply) => {
    // Log-in and log-out set their own cookie.
    if (!request.cookieSession || reply.hasHeader('set-cookie')) return;
    try {
      const renewed = await services.accounts.renew(request.context, request.cookieSession);
      if (renewed) setSessionCookie(reply, renewed);
    } catch (error) {
      // The response is complete, and the next one renews.
      request.log.debug({ err: error }, 'failed to renew a session');
    }
  });
}

/** Compares an `Authorization` header with the internal secrets in constant time. Undefined without a secret. */
function internalCheck([current, previous]: GuardOptions['internalSecrets']):
  | ((authorization: string | undefined) => boolean)
  | undefined {
  if (current === undefined) return undefined;
  const expected = [current, previous ?? current].map((secret) => sha256(secret));
  return (authorization) => {
    const { token = '' } = credentialOf(authorization, {}) ?? {};
    const given = sha256(token);
    return expected.some((one) => timingSafeEqual(given, one));
  };
}
